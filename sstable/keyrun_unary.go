package sstable

import (
	"encoding/binary"
	"math/bits"
)

// Rank and select on the unary part of a block: a few 64-bit words, so both walk them with popcount.

func trailingZeros(w uint64) int { return bits.TrailingZeros64(w) }

// onesCount returns the number of ones.
func onesCount(unary []byte) int {
	n := 0
	for ; len(unary) >= 8; unary = unary[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(unary))
	}
	return n
}

// selectOne returns the bit number of one number i, counted from 0, or the number of bits if there are not as many.
func selectOne(unary []byte, i int) int {
	at := 0
	for ; len(unary) >= 8; unary = unary[8:] {
		w := binary.LittleEndian.Uint64(unary)
		ones := bits.OnesCount64(w)
		if i < ones {
			return at + selectWord(w, i)
		}
		i -= ones
		at += 64
	}
	return at
}

// onesBeforeZero returns the number of ones before the h-th zero, counted from 1 (none before the 0-th), or n if there are fewer
// zeros; n is the number of ones in all.
func onesBeforeZero(unary []byte, h, n int) int {
	if h == 0 {
		return 0
	}
	zero := h - 1 // counted from 0
	at := 0
	for ; len(unary) >= 8; unary = unary[8:] {
		w := ^binary.LittleEndian.Uint64(unary)
		zeros := bits.OnesCount64(w)
		if zero < zeros {
			return at + selectWord(w, zero) - (h - 1)
		}
		zero -= zeros
		at += 64
	}
	return n
}

// selectWord returns the bit number of one number i of w, which has more than i ones. It halves the word by the counts of its
// bytes, summed in parallel (Vigna, Broadword implementation of rank/select queries, WEA 2008).
func selectWord(w uint64, i int) int {
	const ones = 0x0101010101010101
	s := w - w>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	s = (s + s>>4) & 0x0f0f0f0f0f0f0f0f * ones // byte j: ones in bytes 0..j
	// The bytes whose sum is <= i come before the one looked for: there are as many as sums that i reaches.
	byteSums := s
	reached := (uint64(i)*ones | ones<<7) - byteSums // bit 7 of byte j stays set if sum j <= i
	at := bits.OnesCount64(reached&(ones<<7)) << 3
	i -= int(byteSums << 8 >> uint(at) & 0xff)
	b := w >> uint(at) & 0xff
	for ; i > 0; i-- {
		b &= b - 1
	}
	return at + bits.TrailingZeros64(b)
}
