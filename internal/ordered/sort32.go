package ordered

import "slices"

// Sort32 sorts keys, using tmp of the same length as a buffer. It returns the sorted array, which
// is keys or tmp, and the other one.
func Sort32(keys, tmp []uint32) (sorted, spare []uint32) {
	if len(keys) < smallSort {
		slices.Sort(keys)
		return keys, tmp
	}
	const passes = (32 + maxDigit - 1) / maxDigit
	var counts [passes][digitCount]uint32
	for _, k := range keys {
		for p := range counts {
			counts[p][k%digitCount]++
			k >>= maxDigit
		}
	}
	for p := range counts {
		next, shift := &counts[p], p*maxDigit
		if next[keys[0]>>shift%digitCount] == uint32(len(keys)) {
			continue
		}
		starts(next)
		for _, k := range keys {
			d := k >> shift % digitCount
			tmp[next[d]] = k
			next[d]++
		}
		keys, tmp = tmp, keys
	}
	return keys, tmp
}
