// Package intersect compares MinHash sketches: it counts the common elements of two sorted lists,
// and rejects by their bitmaps those lists that have too few.
//
// Counting compares blocks, all elements of one with all of the other, and moves on past the block
// that ends first, or past both. A block is 16 elements in AVX-512 (15 rotations, 16 comparisons
// into a mask) and 8 in AVX2: nothing depends on the outcome of single comparisons, which no
// processor can predict. Pure Go merges from both ends at once, two independent chains of steps
// without branches.
//
// The bitmap of a list has 512 bits, and every element sets one of them, chosen by its value alone.
// A bit of A's that B lacks belongs to an element of A that is not in B, so |A \ B| >= popcount(a
// AND NOT b): a filter that reads 64 bytes a list and never rejects a list that it should not.
package intersect

import "unsafe"

// Count returns the number of common elements of a and b, which must be strictly ascending, or -1
// if they are fewer than need. It gives up as soon as that is certain.
func Count(a, b []uint32, need int) int {
	if min(len(a), len(b)) < need {
		return -1
	}
	n := 0
	if len(a) > 0 && len(b) > 0 {
		n = active.count(a, b, need)
	}
	if n < need {
		return -1
	}
	return n
}

// Filter appends to dst the indices, ascending, of those bitmaps that lack at most max of the bits
// of q.
func Filter[B ~[8]uint64](dst []uint32, q *B, bitmaps []B, max int) []uint32 {
	if max < 0 {
		return dst
	}
	// A B is 512 bits, whatever it is called.
	all := unsafe.Slice((*[8]uint64)(unsafe.Pointer(unsafe.SliceData(bitmaps))), len(bitmaps))
	return active.filter(dst, (*[8]uint64)(unsafe.Pointer(q)), all, max)
}
