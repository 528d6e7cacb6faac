package ordered

import (
	"math/bits"
	"slices"
)

// SortLeading sorts keys, using tmp of the same length as a buffer. It returns the sorted array,
// which is keys or tmp, and the other one. It is faster than Radix if a few leading bits
// distinguish most keys, as for uniform keys of any range, and not much slower otherwise. Passes
// sort by the leading bits that differ, a few more than the bits of the number of keys; then
// adjacent keys that agree in these bits are compared.
func SortLeading(keys, tmp []uint64) (sorted, spare []uint64) {
	n := len(keys)
	if n < leastScattered {
		slices.Sort(keys)
		return keys, tmp
	}
	differ := uint64(0)
	for _, k := range keys {
		differ |= k ^ keys[0]
	}
	width := bits.Len64(differ)
	if n < 1<<fewBits {
		var next [1 << fewBits]uint16
		return scatter(keys, tmp[:n], next[:], width)
	}
	if n < 1<<scatterBits {
		var next [1 << scatterBits]uint16
		return scatter(keys, tmp[:n], next[:], width)
	}
	passes := (bits.Len(uint(n)) + distinguishing + leadingDigit - 1) / leadingDigit
	low := width - passes*leadingDigit
	if low <= 0 || passes > maxLeading {
		return Radix(keys, tmp, max(width, 1))
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
	distinguishing = 4 // leading bits, in addition to as many as the number of keys has
	maxLeading     = 5 // passes, for less than 2^32 keys
	mostInserted   = 16

	leastScattered = 20 // for fewer keys a comparison sort is faster
	fewBits        = 8  // fewer keys have separate counters, which are cleared in less time
	scatterBits    = 12
)

// scatter is SortLeading for few keys that differ only in the lowest width bits. There are as many
// buckets as keys, so a single pass puts keys close to their final positions. next are counters
// with the value 0; their number is a power of two and larger than the number of keys.
func scatter(keys, tmp []uint64, next []uint16, width int) (sorted, spare []uint64) {
	digit := bits.Len(uint(len(keys)))
	low := uint(max(width-digit, 0)) & 63
	next = next[:1<<digit]
	mask := uint64(len(next) - 1)
	for _, k := range keys {
		next[k>>low&mask]++
	}
	sum, most := uint16(0), uint16(0)
	for i, c := range next {
		next[i] = sum
		sum += c
		most = max(most, c)
	}
	for _, k := range keys {
		d := k >> low & mask
		tmp[next[d]] = k
		next[d]++
	}
	if most > mostInserted {
		sortAgreeing(tmp, low)
	} else {
		insert(tmp)
	}
	return tmp, keys
}

// insert sorts keys that are almost sorted.
func insert(keys []uint64) {
	for i, k := range keys {
		j := i
		for ; j > 0 && k < keys[j-1]; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}

// sortAgreeing sorts keys that are sorted except for their lowest bits.
func sortAgreeing(keys []uint64, low uint) {
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && keys[to]>>low == keys[from]>>low {
			to++
		}
		if some := keys[from:to]; len(some) > mostInserted {
			slices.Sort(some)
		} else {
			insert(some)
		}
		from = to
	}
}
