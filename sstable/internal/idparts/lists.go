package idparts

import (
	"encoding/binary"
)

// Lists are the documents of each part, of a span of documents: of each part the gaps between them,
// as varints. Where a part has one of a hundred documents or more a gap takes a byte, else two.
type Lists struct {
	start uint32   // first document of the span
	ends  []uint32 // where in gaps the list of a part ends
	gaps  []byte
}

// NewLists returns the lists of the documents from start on, the parts of which are of, all below
// parts.
func NewLists(start uint32, of []uint16, parts int) *Lists {
	l := &Lists{start: start, ends: make([]uint32, parts)}
	last := make([]uint32, parts) // of the documents of a part, the last one, and 1
	for i, p := range of {
		gap := uint32(i) - last[p]
		l.ends[p] += uint32(1 + sizeOver7(gap))
		last[p] = uint32(i) + 1
	}
	sum := uint32(0)
	for p, n := range l.ends {
		l.ends[p] = sum // where the list begins, which filling it moves to its end
		sum += n
	}
	clear(last)
	l.gaps = make([]byte, sum)
	for i, p := range of {
		l.ends[p] += uint32(binary.PutUvarint(l.gaps[l.ends[p]:], uint64(uint32(i)-last[p])))
		last[p] = uint32(i) + 1
	}
	return l
}

// sizeOver7 returns the bytes of a varint beside the first.
func sizeOver7(v uint32) (n int) {
	for v >= 1<<7 {
		n++
		v >>= 7
	}
	return n
}

// Each calls fn for the documents of a part, ascending, until it returns an error.
func (l *Lists) Each(part int, fn func(doc uint32) error) error {
	at := uint32(0)
	if part > 0 {
		at = l.ends[part-1]
	}
	doc := l.start
	for at < l.ends[part] {
		gap := uint32(l.gaps[at])
		at++
		for shift := 7; l.gaps[at-1] >= 1<<7; shift += 7 {
			gap += uint32(l.gaps[at])<<shift - 1<<shift
			at++
		}
		if err := fn(doc + gap); err != nil {
			return err
		}
		doc += gap + 1
	}
	return nil
}

// Bytes returns the memory that the lists take.
func (l *Lists) Bytes() int { return 4*len(l.ends) + len(l.gaps) }
