package radix

import (
	"math/bits"
	"slices"
)

// SortLeading sorts keys, using tmp of the same length. It returns the sorted array, which is keys
// or tmp, and the other one. It is faster than Sort for keys that few leading bits distinguish, as
// uniform ones of any range, and not much slower for others: passes sort by the bits that differ
// first, a few more than the number of keys has, and neighbors that agree in these are compared.
func SortLeading(keys, tmp []uint64) (sorted, spare []uint64) {
	n := len(keys)
	if n < smallSort {
		slices.Sort(keys)
		return keys, tmp
	}
	differ := uint64(0)
	for _, k := range keys {
		differ |= k ^ keys[0]
	}
	width := bits.Len64(differ)
	passes := (bits.Len(uint(n)) + distinguishing + leadingDigit - 1) / leadingDigit
	low := width - passes*leadingDigit
	if low <= 0 || passes > maxLeading {
		return Sort(keys, tmp, max(width, 1))
	}
	const values = 1 << leadingDigit
	var all [maxLeading][values]uint32
	counts := all[:passes]
	for _, k := range keys {
		k >>= uint(low)
		for p := range counts {
			counts[p][k&(values-1)]++
			k >>= leadingDigit
		}
	}
	for p := range counts {
		next := &counts[p]
		sum := uint32(0)
		for i, c := range next {
			next[i] = sum
			sum += c
		}
		shift := uint(low + p*leadingDigit)
		for _, k := range keys {
			d := k >> shift & (values - 1)
			tmp[next[d]] = k
			next[d]++
		}
		keys, tmp = tmp, keys
	}
	sortAgreeing(keys, uint(low))
	return keys, tmp
}

const (
	leadingDigit   = 8 // bits
	distinguishing = 4 // leading bits beyond the bits of the number of keys
	maxLeading     = 5 // passes, as there are less than 2^32 keys
	mostInserted   = 16
)

// sortAgreeing sorts keys that are sorted but for their lowest bits.
func sortAgreeing(keys []uint64, low uint) {
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && keys[to]>>low == keys[from]>>low {
			to++
		}
		if some := keys[from:to]; len(some) > mostInserted {
			slices.Sort(some)
		} else {
			for i := 1; i < len(some); i++ {
				for j := i; j > 0 && some[j] < some[j-1]; j-- {
					some[j], some[j-1] = some[j-1], some[j]
				}
			}
		}
		from = to
	}
}
