//go:build !purego

package textkernel

import (
	"unsafe"

	"github.com/simdb/simdb/internal/simd"
)

// masks is Masks, after its checks.
func (k kernel) masks(dst []uint64, text []byte) int {
	switch simd.Level(k) {
	case simd.AVX512:
		return masksAVX512(unsafe.SliceData(dst), unsafe.SliceData(text), len(dst))
	case simd.AVX2:
		return masksAVX2(unsafe.SliceData(dst), unsafe.SliceData(text), len(dst))
	}
	return masksGo(dst, text)
}

// edges is Edges, after its checks.
func (k kernel) edges(dst []uint16, masks []uint64) int {
	if simd.Level(k) == simd.AVX512 {
		return edgesAVX512(unsafe.SliceData(dst), unsafe.SliceData(masks), len(masks))
	}
	return edgesGo(dst, masks)
}

// hashWords is HashWords with AVX-512, for full groups.
func (k kernel) hashWords(dst []uint64, text []byte, edges []uint16, k0, k1 uint64) int {
	return hashWordsAVX512(&dst[0], &text[0], &edges[0], len(dst)/WordGroup, k0, k1)
}

// shingles makes as many of the shingles as are quickly made, and returns how many.
func (k kernel) shingles(dst, words []uint64, size int, p Poly) int {
	if simd.Level(k) != simd.AVX512 || len(dst) < 8 {
		return 0
	}
	shinglesAVX512(&dst[0], &words[0], len(dst)/8, size, p.Base, p.Mul)
	return len(dst) &^ 7
}

// below does as many of the hashes as are quickly done, and returns how many passed and how many
// those were.
func (k kernel) below(dst []uint32, hashes []uint64, limit uint64) (n, done int) {
	if simd.Level(k) != simd.AVX512 || len(hashes) < 8 {
		return 0, 0
	}
	return belowAVX512(&dst[0], &hashes[0], len(hashes)/8, limit), len(hashes) &^ 7
}
