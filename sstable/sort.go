package sstable

import (
	"cmp"
	"math/bits"
	"slices"
)

// Sorting keys of a table is LSD radix sort (Knuth, TAOCP vol. 3, 5.2.5): one stable counting pass for each digit,
// lowest first, between two arrays. Digits have at most 11 bits, so that the counters of a pass stay in the first
// level cache; a digit that all keys share costs no pass.

const (
	maxDigit   = 11  // bits a digit
	smallSort  = 128 // below this a comparison sort is faster
	maxPasses  = (64 + maxDigit - 1) / maxDigit
	digitCount = 1 << maxDigit
)

// radixSort sorts keys stably by their lowest width bits, using tmp of the same length. It returns the sorted array,
// which is keys or tmp, and the other one.
func radixSort(keys, tmp []uint64, width int) (sorted, spare []uint64) {
	if len(keys) < smallSort {
		slices.SortStableFunc(keys, func(a, b uint64) int { return cmp.Compare(a<<(64-width), b<<(64-width)) })
		return keys, tmp
	}
	var counts [maxPasses][digitCount]uint32
	passes, digit := digits(width)
	mask := lowBits(width)
	for _, k := range keys {
		k &= mask
		for p := range passes {
			counts[p][k&(1<<digit-1)]++
			k >>= digit
		}
	}
	for p := range passes {
		shift := p * digit
		if counts[p][keys[0]&mask>>shift&(1<<digit-1)] == uint32(len(keys)) {
			continue
		}
		next := &counts[p]
		starts(next)
		for _, k := range keys {
			d := k & mask >> shift & (1<<digit - 1) % digitCount
			tmp[next[d]] = k
			next[d]++
		}
		keys, tmp = tmp, keys
	}
	return keys, tmp
}

// pairs are keys with a value each.
type pairs struct {
	keys []uint64
	vals []uint32
}

// radixSortPairs sorts p stably by whole keys, using tmp of the same lengths. It returns the sorted pairs, which are
// p or tmp.
func radixSortPairs(p, tmp pairs) pairs {
	const width = 64
	var counts [maxPasses][digitCount]uint32
	passes, digit := digits(width)
	for _, k := range p.keys {
		for i := range passes {
			counts[i][k&(1<<digit-1)]++
			k >>= digit
		}
	}
	for i := range passes {
		shift := i * digit
		if len(p.keys) == 0 || counts[i][p.keys[0]>>shift&(1<<digit-1)] == uint32(len(p.keys)) {
			continue
		}
		next := &counts[i]
		starts(next)
		for j, k := range p.keys {
			d := k >> shift & (1<<digit - 1) % digitCount
			at := next[d]
			next[d]++
			tmp.keys[at], tmp.vals[at] = k, p.vals[j]
		}
		p, tmp = tmp, p
	}
	return p
}

// digits splits width bits into the fewest passes of equal digits.
func digits(width int) (passes, digit int) {
	passes = (width + maxDigit - 1) / maxDigit
	return passes, (width + passes - 1) / passes
}

// lowBits is a mask of the lowest width bits.
func lowBits(width int) uint64 { return ^uint64(0) >> (64 - width) }

// starts turns counts of digits into the positions of the first key with each.
func starts(counts *[digitCount]uint32) {
	var sum uint32
	for i, c := range counts {
		counts[i] = sum
		sum += c
	}
}

// nextOrder turns the distinct fingerprints that keys holds, permuted for table from and sorted, into the same
// permuted for table to and sorted, using tmp of the same length; it returns them and the spare array.
//
// Where one block leads each table its permutation is a rotation, and the array for table i+1 is almost sorted for
// table i: only the block that leads table i, lowest in the keys of table i+1, is out of place. So tables are made
// from the last to the first and each costs a sort by that one block.
func nextOrder(l Layout, from, to int, keys, tmp []uint64) (sorted, spare []uint64) {
	if l.Lead != 1 {
		for i, k := range keys {
			keys[i] = l.Permute(to, l.Unpermute(from, k))
		}
		return radixSort(keys, tmp, 64)
	}
	rotation := bits.TrailingZeros64(l.Permute(to, l.Unpermute(from, 1)))
	if rotation == 0 {
		return keys, tmp
	}
	keys, tmp = radixSort(keys, tmp, 64-rotation)
	for i, k := range keys {
		keys[i] = bits.RotateLeft64(k, rotation)
	}
	return keys, tmp
}
