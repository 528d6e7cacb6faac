//go:build !amd64 || purego

package pospop

// count adds the positional counts of the words of x.
func (k kernel) count(counts *[64]uint32, x []uint64) { countGeneric(counts, x) }

// countMixed adds the positional counts of mix(h+add) for every h in x.
func (k kernel) countMixed(counts *[64]uint32, x []uint64, add uint64) {
	countMixedGeneric(counts, x, add)
}

// countSelected adds the positional counts of those words of x whose weight, in weights, has the
// bit 1<<bit.
func (k kernel) countSelected(counts *[64]uint32, x []uint64, weights []int32, bit int) {
	countSelectedGeneric(counts, x, weights, bit)
}
