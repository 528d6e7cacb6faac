//go:build !purego

package editdist

import "github.com/simdb/simdb/internal/simd"

// eight computes the next eight columns of a band, and returns false if it cannot.
func (k kernel) eight(b *band, columns []rune) bool {
	blocks := b.last + 1 - b.first
	if simd.Level(k) != simd.AVX512 || blocks < leastTogether {
		return false
	}
	var equal [together]*uint64
	for j, r := range columns[:together] {
		equal[j] = &b.rows(r, b.p.equal[j])[0]
	}
	eightAVX512(&b.p.pv[b.first], &b.p.mv[b.first], &equal, blocks)
	b.above += together
	return true
}
