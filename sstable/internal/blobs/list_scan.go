package blobs

import (
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// A Scan finds the strings of a list that may lie between two others, without a look at each of
// them: a string has its first eight bytes, or if it is shorter as many zeros as it lacks, as a
// big-endian number, its head. Heads ascend with strings.
type Scan struct {
	list  *List
	block kernel.HeadBlock
	bits  [maxListStrings / 8]byte
	found [maxListStrings]uint8
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
	found, err := s.strings(b, least, most)
	if err == nil && !checked {
		l.setChecked(b)
	}
	return found, err
}

// strings is Block for a block whose extent and checksum are right.
func (s *Scan) strings(b int, least, most uint64) ([]uint8, error) {
	l, block := s.list, &s.block
	if l.heads(b, least, most, &s.bits, block) {
		return s.numbers(), nil
	}
	if room := int(block.Total) + 8; len(block.Strings) < room {
		block.Strings = append(make([]byte, 0, room), block.Strings[:block.Total]...)[:room]
	}
	var ends [maxListStrings]uint32
	l.decode(b, &ends)
	found, start, span, total := 0, uint32(0), most-least, uint32(block.Total)
	strings := block.Strings[:total+8]
	for i, end := range ends[:l.count(b)] {
		size := end - start
		if err := l.checkSize(b, i, start, end); err != nil {
			return nil, err
		}
		if end > total {
			return nil, l.badSize(b, i, start, end)
		}
		head := bits.ReverseBytes64(binary.LittleEndian.Uint64(strings[start:])) & headMasks[min(size, 8)]
		s.found[found&(maxListStrings-1)] = uint8(i)
		if head-least <= span {
			found++
		}
		start = end
	}
	return s.found[:found], nil
}

// numbers returns those of the bits that are set.
func (s *Scan) numbers() []uint8 {
	n := 0
	for i := 0; i < len(s.bits); i += 8 {
		for word := binary.LittleEndian.Uint64(s.bits[i:]); word != 0; word &= word - 1 {
			s.found[n] = uint8(8*i + bits.TrailingZeros64(word))
			n++
		}
	}
	return s.found[:n]
}
