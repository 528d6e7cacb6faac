package ordered

import (
	"cmp"
	"context"
	"slices"
)

// Keys are sorted by LSD radix sort (Knuth, TAOCP vol. 3, 5.2.5): one stable counting pass for each
// digit, lowest first, between two arrays. Digits have at most 11 bits, so that the counters of a
// pass stay in the first-level cache. A digit that is the same in all keys needs no pass.
const (
	maxDigit   = 11  // bits per digit
	smallSort  = 128 // for fewer keys a comparison sort is faster
	maxPasses  = (64 + maxDigit - 1) / maxDigit
	digitCount = 1 << maxDigit
)

// checkEvery is the number of keys that are counted or moved between two checks of the context:
// less than a millisecond.
const checkEvery = 1 << 17

// Radix sorts keys stably by their lowest width bits, 1 to 64, using tmp of the same length as a
// buffer. It returns the sorted array, which is keys or tmp, and the other one.
func Radix(keys, tmp []uint64, width int) (sorted, spare []uint64) {
	sorted, spare, _ = SortContext(context.Background(), keys, tmp, width)
	return sorted, spare
}

// SortContext is Radix, but stops when ctx ends. It then returns ctx's error, and the arrays have
// keys in any order, some twice.
func SortContext(ctx context.Context, keys, tmp []uint64, width int) (sorted, spare []uint64, err error) {
	if len(keys) < smallSort {
		slices.SortStableFunc(keys, func(a, b uint64) int { return cmp.Compare(a<<(64-width), b<<(64-width)) })
		return keys, tmp, ctx.Err()
	}
	var counts [maxPasses][digitCount]uint32
	passes, digit := digits(width)
	mask := lowBits(width)
	for part := range slices.Chunk(keys, checkEvery) {
		if err := ctx.Err(); err != nil {
			return keys, tmp, err
		}
		for _, k := range part {
			k &= mask
			for p := range passes {
				counts[p][k&(1<<digit-1)]++
				k >>= digit
			}
		}
	}
	for p := range passes {
		shift := p * digit
		if counts[p][keys[0]&mask>>shift&(1<<digit-1)] == uint32(len(keys)) {
			continue
		}
		next := &counts[p]
		starts(next)
		for part := range slices.Chunk(keys, checkEvery) {
			if err := ctx.Err(); err != nil {
				return keys, tmp, err
			}
			for _, k := range part {
				d := k & mask >> shift & (1<<digit - 1) % digitCount
				tmp[next[d]] = k
				next[d]++
			}
		}
		keys, tmp = tmp, keys
	}
	return keys, tmp, nil
}

// Pairs are keys with one value each.
type Pairs struct {
	Keys []uint64
	Vals []uint32
}

// MakePairs returns n pairs.
func MakePairs(n int) Pairs { return Pairs{Keys: make([]uint64, n), Vals: make([]uint32, n)} }

// SortPairs sorts p stably by whole keys, using tmp of the same lengths as a buffer. It returns the
// sorted pairs, which are p or tmp.
func SortPairs(p, tmp Pairs) Pairs {
	const width = 64
	var counts [maxPasses][digitCount]uint32
	passes, digit := digits(width)
	for _, k := range p.Keys {
		for i := range passes {
			counts[i][k&(1<<digit-1)]++
			k >>= digit
		}
	}
	for i := range passes {
		shift := i * digit
		if len(p.Keys) == 0 || counts[i][p.Keys[0]>>shift&(1<<digit-1)] == uint32(len(p.Keys)) {
			continue
		}
		next := &counts[i]
		starts(next)
		for j, k := range p.Keys {
			d := k >> shift & (1<<digit - 1) % digitCount
			at := next[d]
			next[d]++
			tmp.Keys[at], tmp.Vals[at] = k, p.Vals[j]
		}
		p, tmp = tmp, p
	}
	return p
}

// digits splits width bits into the minimum number of passes with digits of equal size.
func digits(width int) (passes, digit int) {
	passes = (width + maxDigit - 1) / maxDigit
	return passes, (width + passes - 1) / passes
}

// lowBits returns a mask of the lowest width bits.
func lowBits(width int) uint64 { return ^uint64(0) >> (64 - width) }

// starts turns the counts of digits into the positions of the first key with each digit.
func starts(counts *[digitCount]uint32) {
	var sum uint32
	for i, c := range counts {
		counts[i] = sum
		sum += c
	}
}
