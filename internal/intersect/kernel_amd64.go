//go:build !purego

package intersect

import "github.com/simdb/simdb/internal/simd"

// count is countGo for lists that are not empty.
func (k kernel) count(a, b []uint32, need int) int {
	switch simd.Level(k) {
	case simd.AVX512:
		return countAVX512(&a[0], len(a), &b[0], len(b), need)
	case simd.AVX2:
		n, i, j := countAVX2(&a[0], len(a), &b[0], len(b), need)
		return n + merge(a[i:], b[j:])
	}
	return countGo(a, b, need)
}

// The AVX-512 filter takes whole groups of bitmaps and returns the indices of those that pass in a
// buffer, where each group may write as many as it has bitmaps.
const (
	filterGroup = 8
	filterChunk = 512
)

// filter is Filter for max >= 0.
func (k kernel) filter(dst []uint32, q *[8]uint64, bitmaps [][8]uint64, max int) []uint32 {
	if simd.Level(k) != simd.AVX512 {
		return filterGo(dst, q, bitmaps, max, 0)
	}
	var buf [filterChunk]uint32
	first := 0
	for len(bitmaps)-first >= filterGroup {
		groups := min(len(bitmaps)-first, filterChunk) / filterGroup
		n := filterAVX512(&buf, q, &bitmaps[first], groups, uint32(first), uint64(max))
		dst = append(dst, buf[:n]...)
		first += groups * filterGroup
	}
	return filterGo(dst, q, bitmaps[first:], max, first)
}
