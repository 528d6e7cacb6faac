package ordered

import "slices"

// Lopsided is the ratio of the sizes of two sets from which looking up each element of the smaller
// one in the larger one is faster than merging.
const Lopsided = 32

// Common returns the number of common elements of a and b, which must be ascending, or -1 if it is
// less than need.
func Common(a, b []uint64, need int) int {
	spareA, spareB := len(a)-need, len(b)-need
	if spareA < 0 || spareB < 0 {
		return -1
	}
	if len(a) > len(b) {
		a, b, spareA, spareB = b, a, spareB, spareA
	}
	if len(b)/Lopsided > len(a) {
		return commonOfFew(a, b, need)
	}
	i, k := 0, 0
	for i < len(a) && k < len(b) {
		switch x, y := a[i], b[k]; {
		case x == y:
			i, k = i+1, k+1
		case x < y:
			if i++; spareA == 0 {
				return -1
			}
			spareA--
		default:
			if k++; spareB == 0 {
				return -1
			}
			spareB--
		}
	}
	if n := need + spareA - (len(a) - i); n >= need { // need+spareA elements of a were not skipped
		return n
	}
	return -1
}

// commonOfFew is Common for a b that is much larger than a.
func commonOfFew(a, b []uint64, need int) int {
	n := 0
	for i, e := range a {
		at, ok := slices.BinarySearch(b, e)
		if b = b[at:]; ok {
			n++
		}
		if n+len(a)-1-i < need {
			return -1
		}
	}
	return n
}
