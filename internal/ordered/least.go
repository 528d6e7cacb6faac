package ordered

import (
	"math/bits"
	"slices"
)

// Least moves the n smallest keys to the front, in no particular order (quickselect: Hoare,
// "Algorithm 65: Find", CACM 1961). It is slower if many keys are equal.
func Least(keys []uint64, n int) {
	for len(keys) > smallSelect && n > 0 && n < len(keys) {
		last := len(keys) - 1
		a, b, c := keys[0], keys[last/2], keys[last]
		pivot := max(min(a, b), min(max(a, b), c)) // the median
		less := 0
		for i, k := range keys { // branch-free
			keys[i], keys[less] = keys[less], k
			_, below := bits.Sub64(k, pivot, 0)
			less += int(below)
		}
		switch {
		case less == 0: // the pivot is the smallest key
			slices.Sort(keys)
			return
		case n <= less:
			keys = keys[:less]
		default:
			keys, n = keys[less:], n-less
		}
	}
	if 0 < n && n < len(keys) {
		slices.Sort(keys)
	}
}

// smallSelect is the number of keys up to which they are sorted rather than partitioned.
const smallSelect = 24
