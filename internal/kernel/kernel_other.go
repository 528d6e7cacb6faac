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

func headsAsm(*[HeadStrings / 8]byte, *HeadBlock) bool { return false }
