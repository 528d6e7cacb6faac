package ordered

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// partKeys is the approximate number of keys in a part of SortParts. A part's two arrays and
// counters fit into the first cache levels, so every pass but the first runs at their speed.
const (
	partKeys = 1 << 11
	partLow  = 1 << 16 // for fewer keys Radix is as fast
)

// SortParts is Radix for many keys, with several workers. It distributes the keys to parts by their
// leading bits, and sorts each part separately.
func SortParts(keys, tmp []uint64, width, workers int) (sorted, spare []uint64) {
	n := len(keys)
	digit := min(bits.Len(uint(n/partKeys)), maxDigit, width-1)
	if n < partLow || digit < 1 {
		return Radix(keys, tmp, width)
	}
	ends := distribute(keys, tmp, width-digit, digit, max(workers, 1))
	passes, _ := digits(width - digit)
	into := tmp
	if passes%2 == 1 {
		into = keys
	}
	var next atomic.Int64
	inParallel(workers, func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(ends) {
				return
			}
			from := 0
			if i > 0 {
				from = ends[i-1]
			}
			sortPart(tmp[from:ends[i]], keys[from:ends[i]], into[from:ends[i]], width-digit)
		}
	})
	if passes%2 == 1 {
		return keys, tmp
	}
	return tmp, keys
}

// inParallel calls work in this many goroutines and waits for them. For one, it calls work
// directly.
func inParallel(workers int, work func()) {
	if workers <= 1 {
		work()
		return
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(work)
	}
	wg.Wait()
}

// distribute moves keys to tmp, stably, by the digit bits from shift on. It returns the end of each
// part.
func distribute(keys, tmp []uint64, shift, digit, workers int) (ends []int) {
	// Each worker counts a share of the keys, and then moves the same share to positions after
	// those of the previous shares.
	share := (len(keys) + workers - 1) / workers
	counts := make([][digitCount]uint32, workers)
	each := func(work func(w int)) {
		var next atomic.Int64
		inParallel(workers, func() { work(int(next.Add(1)) - 1) })
	}
	mask := uint64(1)<<digit - 1
	each(func(w int) {
		c := &counts[w]
		for _, k := range keys[min(w*share, len(keys)):min((w+1)*share, len(keys))] {
			c[k>>(shift&63)&mask%digitCount]++
		}
	})
	ends = make([]int, 1<<digit)
	var sum uint32
	for d := range ends {
		for w := range counts {
			counts[w][d], sum = sum, sum+counts[w][d]
		}
		ends[d] = int(sum)
	}
	each(func(w int) {
		c := &counts[w]
		for _, k := range keys[min(w*share, len(keys)):min((w+1)*share, len(keys))] {
			d := k >> (shift & 63) & mask % digitCount
			tmp[c[d]] = k
			c[d]++
		}
	})
	return ends
}

// sortPart sorts keys by their lowest width bits, using tmp. The result is in into, which is either
// keys or tmp.
func sortPart(keys, tmp, into []uint64, width int) {
	if len(keys) == 0 {
		return
	}
	sorted, _ := keys, tmp
	if len(keys) < smallSort {
		slices.SortStableFunc(keys, func(a, b uint64) int { return cmp.Compare(a<<(64-width), b<<(64-width)) })
	} else {
		sorted, _ = Radix(keys, tmp, width)
	}
	if &sorted[0] != &into[0] {
		copy(into, sorted)
	}
}
