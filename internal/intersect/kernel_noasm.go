//go:build !amd64 || purego

package intersect

// count is countGo for lists that are not empty.
func (k kernel) count(a, b []uint32, need int) int { return countGo(a, b, need) }

// filter is Filter for max >= 0.
func (k kernel) filter(dst []uint32, q *[8]uint64, bitmaps [][8]uint64, max int) []uint32 {
	return filterGo(dst, q, bitmaps, max, 0)
}
