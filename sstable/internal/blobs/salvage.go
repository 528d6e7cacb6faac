package blobs

import "slices"

// Sound verifies every block by itself and returns what is wrong with each, nil for those that are
// right. The damaged entry of one block then says nothing about the block after it, neither here
// nor in later calls, as it does otherwise. It comes before any other method.
//
// The entry of another block has the right checksum too, and a write that went to the wrong place
// puts it there. So blocks that are right must be in order: as many are taken as can be, and the
// others are refused.
func (l *List) Sound() []error {
	l.alone = true
	bad := make([]error, l.NumBlocks())
	var good []place
	for b := range bad {
		if bad[b] = l.Check(b); bad[b] == nil {
			if off, length := l.Extent(b); length > 0 {
				good = append(good, place{b, off, off + length})
			}
		}
	}
	for i := range l.checked {
		l.checked[i].Store(0)
	}
	for _, p := range misplaced(good) {
		bad[p.block] = l.corrupt(p.block, "block %d is not where its number says", p.block)
	}
	l.bad = bad
	for b, err := range bad {
		if err == nil {
			l.setChecked(b)
		}
	}
	return bad
}

// place is where a block is.
type place struct {
	block      int
	start, end uint64
}

// misplaced returns the places, which come in the order of their blocks, that have to go so that
// the others ascend and do not overlap, as few as it takes.
func misplaced(places []place) (gone []place) {
	// tails[n] is the place that ends first of those that can be the last of n+1 places in order.
	var tails []int
	before := make([]int, len(places))
	for i, p := range places {
		n, _ := slices.BinarySearchFunc(tails, p.start, func(t int, start uint64) int {
			if places[t].end <= start {
				return -1
			}
			return 1
		})
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else if p.end < places[tails[n]].end {
			tails[n] = i
		}
	}
	kept := make([]bool, len(places))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			kept[i] = true
		}
	}
	for i, p := range places {
		if !kept[i] {
			gone = append(gone, p)
		}
	}
	return gone
}

// Sound is List.Sound for records. Records of blocks that are not right are not found any more.
func (d *Records) Sound() []error {
	d.alone = true
	d.sound = make([]uint32, 0, d.NumBlocks())
	bad := make([]error, d.NumBlocks())
	var good []place
	for b := range bad {
		e, _, _, err := d.extent(b)
		if bad[b] = err; err == nil && e.stored > 0 {
			good = append(good, place{b, e.offset, e.offset + uint64(e.stored)})
		}
	}
	for _, p := range misplaced(good) {
		bad[p.block] = d.corruptDir(p.block, "block %d is not where its number says", p.block)
	}
	next := uint32(0)
	for b := range bad {
		if e := d.entry(b); bad[b] == nil && e.first < next {
			bad[b] = d.corruptDir(b, "block of records from %d, after one up to %d", e.first, next)
		} else if bad[b] == nil {
			next = e.first + e.count
			d.sound = append(d.sound, uint32(b))
		}
	}
	return bad
}

// FirstRecord returns the first record of a block that Sound found right.
func (d *Records) FirstRecord(b int) uint32 { return d.entry(b).first }

// soundBlockOf is BlockOf among the blocks that Sound found right; it is any of them if none of
// them has the record, -1 if there is none.
func (d *Records) soundBlockOf(record uint32) int {
	i, found := slices.BinarySearchFunc(d.sound, record, func(b, record uint32) int {
		return int(int64(d.firstOf(int(b))) - int64(record))
	})
	if !found {
		i--
	}
	if i = max(i, 0); i == len(d.sound) {
		return -1
	}
	return int(d.sound[i])
}
