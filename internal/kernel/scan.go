package kernel

import (
	"encoding/binary"
	"math/bits"
)

func load64(p []byte) uint64 { return binary.LittleEndian.Uint64(p) }

// scanPackedGo scans groups of eight values, whose offsets in the bytes of the group are the same in
// every group.
func scanPackedGo(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	var at, shift [8]uint8
	for lane := range at {
		at[lane], shift[lane] = uint8(lane*w>>3), uint8(lane*w&7)
	}
	mask := Mask(w)
	q &= mask
	for first := from &^ 7; first < to; first += 8 {
		group := packed[first>>3*w:][:64:64]
		for lane := range at {
			low := load64(group[at[lane]:]) >> (shift[lane] & 7) & mask
			if bits.OnesCount64(low^q) <= k {
				if i := first + lane; i >= from && i < to {
					dst = append(dst, uint32(i))
				}
			}
		}
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

func rankZerosGo(unary []byte, from, to uint64, n int) (lo, hi int) {
	lo, hi = n, n
	if from == 0 {
		lo = 0
	}
	if to == 0 {
		return 0, 0
	}
	zeros := uint64(0) // before the current word
	for at := 0; at+8 <= len(unary); at += 8 {
		w := ^load64(unary[at:])
		after := zeros + uint64(bits.OnesCount64(w))
		if from > zeros && from <= after {
			lo = 8*at + Select(w, int(from-zeros-1)) - int(from-1)
		}
		if to > zeros && to <= after {
			return lo, 8*at + Select(w, int(to-zeros-1)) - int(to-1)
		}
		zeros = after
	}
	return lo, hi
}

func scanBlockGo(dst []uint32, block []byte, high, w, n int, from, to uint64, q uint64, k int) (near []uint32, lo, hi int) {
	lo, hi = RankZeros(block[:8*high], from, to, n)
	return ScanPacked(dst[:0], block[8*high:], w, lo, hi, q, k), lo, hi
}

// Select returns the position of 1-bit number i of w, counted from 0. w has more than i of them.
func Select(w uint64, i int) int {
	if active == avx512 {
		return selectBit(w, i)
	}
	return selectGo(w, i)
}

// selectGo finds the byte by the counts of 1-bits in the bytes before it, summed in parallel (Vigna,
// Broadword Implementation of Rank/Select Queries, WEA 2008).
func selectGo(w uint64, i int) int {
	const ones = 0x0101010101010101
	s := w - w>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	s = (s + s>>4) & 0x0f0f0f0f0f0f0f0f * ones // byte j: ones in bytes 0..j
	// The bytes whose sum is <= i come before the one looked for. Bit 7 of byte j stays set if its sum is.
	reached := (uint64(i)*ones | ones<<7) - s
	at := bits.OnesCount64(reached&(ones<<7)) << 3
	i -= int(s << 8 >> uint(at) & 0xff)
	b := w >> uint(at) & 0xff
	for ; i > 0; i-- {
		b &= b - 1
	}
	return at + bits.TrailingZeros64(b)
}
