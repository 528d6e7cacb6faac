package blobs

import "slices"

// Sound verifies every block by itself and returns which ones are right. The damaged entry of one
// block then says nothing about the block after it, neither here nor in later calls, as it does
// otherwise. So that blocks of a hostile file can't share bytes, a block must start after the end
// of those that were found right. It comes before any other method.
func (l *List) Sound() []bool {
	l.alone = true
	sound := make([]bool, l.NumBlocks())
	end := uint64(0)
	for b := range sound {
		off, length := l.Extent(b)
		if sound[b] = off >= end && l.Check(b) == nil; sound[b] {
			end = off + length
		}
	}
	return sound
}

// Sound is List.Sound for records. Records of blocks that are not right are not found any more.
func (d *Records) Sound() []bool {
	d.alone = true
	d.sound = make([]uint32, 0, d.NumBlocks())
	sound := make([]bool, d.NumBlocks())
	end, next := uint64(0), uint32(0)
	for b := range sound {
		e, _, _, err := d.extent(b)
		if err != nil || e.offset < end && e.stored > 0 || e.first < next {
			continue
		}
		end, next = max(end, e.offset+uint64(e.stored)), e.first+e.count
		sound[b], d.sound = true, append(d.sound, uint32(b))
	}
	return sound
}

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
