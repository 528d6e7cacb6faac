package kernel

import (
	"encoding/binary"
	"math/bits"
)

func load64(p []byte) uint64 { return binary.LittleEndian.Uint64(p) }

func scanPackedGo(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	mask := Mask(w)
	q &= mask
	bit := from * w
	for i := from; i < to; i++ {
		low := load64(packed[bit>>3:]) >> (bit & 7) & mask
		if bits.OnesCount64(low^q) <= k {
			dst = append(dst, uint32(i))
		}
		bit += w
	}
	return dst
}

// scanFlatGo counts positions from first.
func scanFlatGo(dst []uint32, keys []uint64, first int, q uint64, k int) []uint32 {
	for i, key := range keys {
		if bits.OnesCount64(key^q) <= k {
			dst = append(dst, uint32(first+i))
		}
	}
	return dst
}
