package kernel

import "unsafe"

// Common returns the number of common elements of a and b, which must be strictly ascending, or -1
// if it is less than need. It stops as soon as that is certain.
func Common(a, b []uint32, need int) int {
	if min(len(a), len(b)) < need {
		return -1
	}
	n := 0
	switch {
	case len(a) == 0 || len(b) == 0:
	case at.common == Go:
		n = commonGo(a, b, need)
	default:
		n = commonAsm(a, b, need)
	}
	if n < need {
		return -1
	}
	return n
}

// FilterBitmaps appends to dst the indexes of bitmaps that lack at most max of the bits of q, in
// ascending order.
func FilterBitmaps[B ~[4]uint64](dst []uint32, q *B, bitmaps []B, max int) []uint32 {
	if max < 0 {
		return dst
	}
	// The underlying type of B is 256 bits.
	all := unsafe.Slice((*[4]uint64)(unsafe.Pointer(unsafe.SliceData(bitmaps))), len(bitmaps))
	if at.filter == Go {
		return filterGo(dst, (*[4]uint64)(unsafe.Pointer(q)), all, min(max, 256), 0)
	}
	return filterAsm(dst, (*[4]uint64)(unsafe.Pointer(q)), all, min(max, 256))
}
