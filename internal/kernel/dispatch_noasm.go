//go:build !amd64 || purego

package kernel

import (
	"hash/crc32"
	"unsafe"
)

func scanPackedAsm(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	return scanPackedGo(dst, packed, w, from, to, q, k)
}

func scanFlatAsm(dst []uint32, keys []uint64, q uint64, k int) []uint32 {
	return scanFlatGo(dst, keys, 0, q, k)
}

func scanManyAsm(dst, queries, keys []uint64, k int) []uint64 {
	return scanManyGo(dst, queries, keys, k)
}

func prefetchAsm([]byte)                    {}
func prefetchAtAsm(unsafe.Pointer, uintptr) {}
func prefetch2Asm(_, _ []byte)              {}
func prefetchSpansAsm([]Span)               {}

func prefetchEachAsm(_, _ unsafe.Pointer, _, _ int, _, _ uint) {}

func scanSpansAsm(dst []uint64, spans []Span) []uint64 { return scanSpansEach(dst, spans) }

func selectBit(w uint64, i int) int { return selectGo(w, i) }

func rankZerosAsm(unary []byte, from, to uint64, n int) (lo, hi int) {
	return rankZerosGo(unary, from, to, n)
}

func (k *Keys) decodeAsm(unary, packed []byte, w, hi int, base uint64) {
	k.decodeGo(unary, packed, w, 0, hi, base)
}

func scanBlockAsm(dst []uint32, block []byte, high, w, n int, from, to uint64, q uint64, k int) (near []uint32, lo, hi int) {
	return scanBlockGo(dst, block, high, w, n, from, to, q, k)
}

func ascendingAsm(keys []uint64) bool { return ascendingGo(keys) }

func crc32cAsm(sum uint32, p []byte) uint32 { return crc32.Update(sum, castagnoli, p) }

// count adds the positional counts of the words of x.
func (l Level) count(counts *[64]uint32, x []uint64) { countGeneric(counts, x) }

// countMixed adds the positional counts of mix(h+add) for every h in x.
func (l Level) countMixed(counts *[64]uint32, x []uint64, add uint64) {
	countMixedGeneric(counts, x, add)
}

// masks is Masks after its argument checks.
func (l Level) masks(dst []uint64, text []byte) int { return masksGo(dst, text) }

// edges is Edges after its argument checks.
func (l Level) edges(dst []uint16, masks []uint64) int { return edgesGo(dst, masks) }

// hashWords is not called.
func (l Level) hashWords([]uint64, []byte, []uint16, uint64, uint64) int { return 0 }

// shingles computes no shingles.
func (l Level) shingles(dst, words []uint64, size int, p Poly) int { return 0 }

// below processes no hashes.
func (l Level) below(dst []uint32, hashes []uint64, limit uint64) (n, done int) { return 0, 0 }

// common is commonGo.
func (l Level) common(a, b []uint32, need int) int { return commonGo(a, b, need) }

// filter is FilterBitmaps for max >= 0.
func (l Level) filter(dst []uint32, q *[4]uint64, bitmaps [][4]uint64, max int) []uint32 {
	return filterGo(dst, q, bitmaps, max, 0)
}

// eight returns false: it needs assembly.
func (l Level) eight(b *band, columns []rune) bool { return false }
