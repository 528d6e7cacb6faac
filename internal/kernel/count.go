package kernel

import "math/bits"

// golden is the increment of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
// number generators", 2014), 2^64 divided by the golden ratio. It is part of the definition of wide
// fingerprints and must not change.
const golden = 0x9e3779b97f4a7c15

// RowWord returns word j of the row of hash h: h itself for j = 0, so that a wide fingerprint
// begins with the narrow one, and output j of the SplitMix64 generator seeded with h from there on.
// Stored fingerprints depend on it: it must not change.
func RowWord(h uint64, j int) uint64 {
	if j == 0 {
		return h
	}
	return mix(h + uint64(j)*golden)
}

// Count64 adds to counts[p] the number of hashes that have bit p set. Counts wrap at 2^32.
func Count64(counts *[64]uint32, hashes []uint64) {
	active.count(counts, hashes)
}

// CountWide adds positional counts of rows of len(counts)/64 words: counts[64*j+p] grows by the
// number of hashes h for which bit p of RowWord(h, j) is set. It panics unless len(counts) is a
// multiple of 64. Counts wrap at 2^32.
func CountWide(counts []uint32, hashes []uint64) {
	if len(counts)%64 != 0 {
		panic("kernel: the number of counters is not a multiple of 64")
	}
	for j := range len(counts) / 64 {
		c := (*[64]uint32)(counts[64*j:])
		if j == 0 {
			active.count(c, hashes)
		} else {
			active.countMixed(c, hashes, uint64(j)*golden)
		}
	}
}

// CountWeighted adds positional sums of weights of rows of len(sums)/64 words: sums[64*j+p] grows
// by weights[i] for every i for which bit p of RowWord(hashes[i], j) is set. A weight may be
// negative. The cost grows with the number of binary digits in which any weight has a one. It
// panics unless len(sums) is a multiple of 64 and there is a weight for each hash; the hashes must
// be fewer than 2^32. Sums wrap at 2^64.
func CountWeighted(sums []int64, hashes []uint64, weights []int32) {
	if len(sums)%64 != 0 {
		panic("kernel: the number of sums is not a multiple of 64")
	}
	if len(hashes) != len(weights) {
		panic("kernel: the numbers of hashes and weights differ")
	}
	if len(sums) == 0 {
		return
	}
	var digits uint32
	for _, w := range weights {
		digits |= uint32(w)
	}
	sumDigits((*[64]int64)(sums), hashes, weights, digits)
	if len(sums) > 64 {
		sumMixed(sums, hashes, weights, digits)
	}
}

// sumMixed is CountWeighted without word 0. It mixes the words once for all digits.
func sumMixed(sums []int64, hashes []uint64, weights []int32, digits uint32) {
	var buf [chunk]uint64
	for len(hashes) > 0 {
		n := min(len(hashes), len(buf))
		for j := 1; j < len(sums)/64; j++ {
			mixWords(&buf, hashes[:n], uint64(j)*golden)
			sumDigits((*[64]int64)(sums[64*j:]), buf[:n], weights[:n], digits)
		}
		hashes, weights = hashes[n:], weights[n:]
	}
}

// sumDigits adds the weights of the words of x that have each bit set, one binary digit of the
// weights at a time.
func sumDigits(sums *[64]int64, x []uint64, weights []int32, digits uint32) {
	for ; digits != 0; digits &= digits - 1 {
		bit := bits.TrailingZeros32(digits)
		unit := int64(int32(1) << bit) // digit 31 is the sign, worth -2^31
		var counts [64]uint32
		active.countSelected(&counts, x, weights, bit)
		for p, c := range counts {
			sums[p] += int64(c) * unit
		}
	}
}
