package kernel

// golden is the increment of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
// number generators", 2014): 2^64 divided by the golden ratio. It is part of the definition of wide
// fingerprints and must not change.
const golden = 0x9e3779b97f4a7c15

// RowWord returns word j of the row of hash h. Word 0 is h itself, so that a wide fingerprint
// begins with the narrow one. Word j is output j of the SplitMix64 generator seeded with h. Stored
// fingerprints depend on it, so it must not change.
func RowWord(h uint64, j int) uint64 {
	if j == 0 {
		return h
	}
	return mix(h + uint64(j)*golden)
}

// Count64 adds to counts[p] the number of hashes that have bit p set. Counts wrap around at 2^32.
func Count64(counts *[64]uint32, hashes []uint64) {
	count(counts, hashes)
}

// count is Count64.
func count(counts *[64]uint32, x []uint64) {
	if at.count == Go {
		countGeneric(counts, x)
	} else {
		countAsm(counts, x)
	}
}

// countMixed adds the positional counts of mix(h+add) for every h in x.
func countMixed(counts *[64]uint32, x []uint64, add uint64) {
	if at.countMixed == Go {
		countMixedGeneric(counts, x, add)
	} else {
		countMixedAsm(counts, x, add)
	}
}

// CountWide adds positional counts of rows of len(counts)/64 words: it adds to counts[64*j+p] the
// number of hashes h for which bit p of RowWord(h, j) is set. It panics if len(counts) is not a
// multiple of 64. Counts wrap around at 2^32.
func CountWide(counts []uint32, hashes []uint64) {
	if len(counts)%64 != 0 {
		panic("kernel: the number of counters is not a multiple of 64")
	}
	for j := range len(counts) / 64 {
		c := (*[64]uint32)(counts[64*j:])
		if j == 0 {
			count(c, hashes)
		} else {
			countMixed(c, hashes, uint64(j)*golden)
		}
	}
}
