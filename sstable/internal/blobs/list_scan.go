package blobs

import (
	"encoding/binary"
	"math/bits"
)

// A Scan finds the strings of a list that may lie between two others, without a look at each of
// them: a string has its first eight bytes, or if it is shorter as many zeros as it lacks, as a
// big-endian number, its head. Heads ascend with strings.
type Scan struct {
	list    *List
	strings []byte // of the block, with eight bytes after them
	ends    [maxListStrings]uint32
	found   [maxListStrings]uint8
}

// NewScan returns a Scan of a list none of whose strings is empty. It must not be used
// concurrently.
func NewScan(l *List) *Scan { return &Scan{list: l} }

// Head returns the head of a string.
func Head(s []byte) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

// headMasks are, for a number of bytes, the bits of a head that are not zero.
var headMasks = func() (masks [9]uint64) {
	for n := range masks {
		masks[n] = ^(^uint64(0) >> (8 * n))
	}
	return masks
}()

// Block returns the numbers, in block b, of its strings whose heads are from least to most,
// ascending. They are valid until the next call.
func (s *Scan) Block(b int, least, most uint64) ([]uint8, error) {
	l := s.list
	checked := l.isChecked(b)
	if !checked {
		block, err := l.checkExtent(b)
		if err == nil {
			err = l.checkSum(b, block)
		}
		if err != nil {
			return nil, err
		}
	}
	off, length := l.Extent(b)
	_, packed := l.packed(b)
	l.decode(b, &s.ends)
	total := uint32(length) - uint32(packed)
	if s.strings = l.area.Data[off+uint64(packed):]; len(s.strings) < int(total)+8 {
		s.strings = append(s.strings[:total:total], make([]byte, 8)...)
	}
	found, start, span := 0, uint32(0), most-least
	strings, count := s.strings[:total+8], l.count(b)
	fewest, spread := uint32(l.kind.Least), uint32(l.kind.Most-l.kind.Least)
	for i, end := range s.ends[:count] {
		size := end - start
		if size-fewest > spread || end > total {
			return nil, l.badSize(b, i, start, end)
		}
		head := bits.ReverseBytes64(binary.LittleEndian.Uint64(strings[start:])) & headMasks[min(size, 8)]
		s.found[found&(maxListStrings-1)] = uint8(i)
		if head-least <= span {
			found++
		}
		start = end
	}
	if !checked {
		l.setChecked(b)
	}
	return s.found[:found], nil
}

// Get returns string i of the block that Block has looked at last. It aliases the table.
func (s *Scan) Get(i uint8) []byte {
	start, end := uint32(0), s.ends[i&(maxListStrings-1)]
	if i > 0 {
		start = s.ends[(i-1)&(maxListStrings-1)]
	}
	return s.strings[start:end:end]
}
