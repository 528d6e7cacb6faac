package kernel

import (
	"encoding/binary"
)

// Slack is the number of bytes after the last packed value that a kernel may read and ignore.
const Slack = 64

// BlockKeys is the largest number of keys in a block.
const BlockKeys = 512

// Many queries and many keys are compared in tiles of tileQueries queries and tileKeys keys.
const (
	tileQueries = 4
	tileKeys    = 8
)

// RoundWidth returns the smallest supported width >= w, for w in 0..64. A value of width w at bit
// i*w starts (i*w)%8 bits into its first byte, so it fits into eight bytes if w + max((i*w)%8) <=
// 64.
func RoundWidth(w int) int {
	switch {
	case w <= 58:
		return w
	case w <= 60:
		return 60
	}
	return 64
}

// Mask returns a word with the w lowest bits set.
func Mask(w int) uint64 {
	if w >= 64 {
		return ^uint64(0)
	}
	return 1<<uint(w) - 1
}

// Get returns packed value i of width w. packed must have seven bytes after the value's first.
func Get(packed []byte, w, i int) uint64 {
	bit := i * w
	return load64(packed[bit>>3:]) >> (bit & 7) & Mask(w)
}

// AppendPacked appends values packed with width w, each reduced to its w lowest bits, and zero bits
// up to a whole 64-bit word. Get reads them.
func AppendPacked(dst []byte, values []uint64, w int) []byte {
	if w == 0 {
		return dst
	}
	mask := Mask(w)
	var acc uint64
	used := 0
	for _, v := range values {
		v &= mask
		acc |= v << used
		if used += w; used >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			used -= 64
			// the bits that did not fit; 0 if used is 0, because v < 1<<w
			acc = v >> (w - used)
		}
	}
	if used > 0 {
		dst = binary.LittleEndian.AppendUint64(dst, acc)
	}
	return dst
}

func load64(p []byte) uint64 { return binary.LittleEndian.Uint64(p) }

// Keys is a buffer for decoding the keys of one block. Its zero value is ready to use.
type Keys struct {
	keys [BlockKeys]uint64
	ones [BlockKeys + 128]uint16 // bit numbers of the ones in the unary part; those of a word are written 64 at a time
}

// A Span is a range of the packed values of a block, with the query and the bound for comparing
// them; see ScanSpans. The assembly depends on the layout of its fields.
type Span struct {
	packed       *byte // address of the block's value 0
	query        uint64
	from, to     uint16
	width, bound uint8
	Tag          uint64 // for the caller's use
}

// Set makes s the span of the values [from, to), 0 <= from < to <= BlockKeys, of width w. A value
// is near if it differs from the w lowest bits of q in at most k bits, 0 <= k <= 64. packed must
// have Slack readable bytes after value to-1 for as long as the span is in use.
//
// The fields are set in place: copying the struct right afterwards stalls on store forwarding.
func (s *Span) Set(packed []byte, w, from, to int, q uint64, k int, tag uint64) {
	s.packed, s.query, s.Tag = &packed[:(to-1)>>3*w+64][0], q, tag // the last byte to be read is within packed
	s.from, s.to, s.width, s.bound = uint16(from), uint16(to), uint8(w), uint8(k)
}

// Len returns the number of values.
func (s *Span) Len() int { return int(s.to - s.from) }
