package keyrun

import (
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// Rank and select on the unary part of a block. The part has only a few 64-bit words, so both go
// through them with popcount.

func onesCount(unary []byte) int {
	n := 0
	for ; len(unary) >= 8; unary = unary[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(unary))
	}
	return n
}

// selectOneFrom returns the position of the i-th one (from 0) at or after bit from, or the number
// of bits if there are not enough ones.
func selectOneFrom(unary []byte, from, i int) int {
	skip := ^uint64(0) << (from & 63)
	for at := from &^ 63; 8*len(unary) >= at+64; at += 64 {
		w := binary.LittleEndian.Uint64(unary[at>>3:]) & skip
		ones := bits.OnesCount64(w)
		if i < ones {
			return at + kernel.Select(w, i)
		}
		i -= ones
		skip = ^uint64(0)
	}
	return 8 * len(unary)
}

// lastOne returns the position of the last one; there must be a one.
func lastOne(unary []byte) int {
	at := len(unary) - 8
	for at > 0 && binary.LittleEndian.Uint64(unary[at:]) == 0 {
		at -= 8
	}
	return 8*at + bits.Len64(binary.LittleEndian.Uint64(unary[at:])) - 1
}
