// Package kernel holds the bit kernels: the inner loops that compare a 64-bit query with many keys at
// once. They work on 64-bit words and assume that a fingerprint is one of them.
//
// There are two shapes of input: a flat array of uint64 (the memtable, or a decoded block), and the
// packed low bits of an Elias-Fano block. There, value i of width w occupies the bits [i*w, (i+1)*w)
// of a little-endian bit string, so that eight values fill w bytes exactly and a kernel may start at
// any multiple of eight.
//
// Widths are 0..58, 60 and 64: those where a value's first byte and the seven after it always hold all
// of its bits, whatever its position (see RoundWidth).
//
// Pure Go runs everywhere; AVX2 and AVX-512 are used as package simd decides. All levels return the
// same positions in the same order.
package kernel

import (
	"unsafe"

	"github.com/simdb/simdb/internal/simd"
)

// Slack is the number of bytes past the last packed value that a kernel may read (and ignore).
const Slack = 64

// The levels of implementations.
const (
	pureGo = simd.Go
	avx2   = simd.AVX2
	avx512 = simd.AVX512
)

// active is the level in use. Only tests write to it.
var active = simd.Active()

// Name returns the name of the level in use: "go", "avx2" or "avx512".
func Name() string { return active.String() }

// RoundWidth returns the least supported width >= w, for w in 0..64. A value of width w at bit i*w
// starts (i*w)%8 bits into its first byte, so it fits into eight bytes if w + max((i*w)%8) <= 64.
func RoundWidth(w int) int {
	switch {
	case w <= 58:
		return w
	case w <= 60:
		return 60
	}
	return 64
}

// Mask returns the w lowest bits set.
func Mask(w int) uint64 {
	if w >= 64 {
		return ^uint64(0)
	}
	return 1<<uint(w) - 1
}

// Get returns packed value i of width w. packed must hold seven bytes past the value's first.
func Get(packed []byte, w, i int) uint64 {
	bit := i * w
	return load64(packed[bit>>3:]) >> (bit & 7) & Mask(w)
}

// ScanPacked appends to dst the positions i in [from, to) whose packed value differs from the w lowest
// bits of q in at most k bits, ascending. packed must hold Slack readable bytes past the value to-1.
func ScanPacked(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	if from >= to || k < 0 {
		return dst
	}
	if active == pureGo {
		return scanPackedGo(dst, packed, w, from, to, q, k)
	}
	return scanPackedAsm(dst, packed, w, from, to, q, k)
}

// ScanFlat appends to dst the positions of keys that differ from q in at most k bits, ascending.
func ScanFlat(dst []uint32, keys []uint64, q uint64, k int) []uint32 {
	if k < 0 {
		return dst
	}
	if active == pureGo {
		return scanFlatGo(dst, keys, 0, q, k)
	}
	return scanFlatAsm(dst, keys, q, k)
}

// Prefetch prefetches the cache lines of p. It never waits for them.
func Prefetch(p []byte) {
	if active != pureGo && len(p) > 0 {
		prefetchAsm(p)
	}
}

// PrefetchAt prefetches n bytes from p on; n is at least 1. p may point anywhere.
func PrefetchAt(p unsafe.Pointer, n uintptr) {
	if active != pureGo {
		prefetchAtAsm(p, n)
	}
}

// Prefetch2 prefetches the cache lines of p and of q.
func Prefetch2(p, q []byte) {
	if active != pureGo && len(p) > 0 && len(q) > 0 {
		prefetch2Asm(p, q)
	}
}

// PrefetchEach prefetches one cache line for each of n items that are stride bytes apart: that of the
// byte at base + v>>shift<<scale, where v is the 32-bit number at the item's start.
func PrefetchEach(base, items unsafe.Pointer, n, stride int, shift, scale uint) {
	switch {
	case n == 0 || active == pureGo:
	case active == avx512:
		prefetchEachAsm(base, items, n, stride, shift, scale)
	default:
		for i := range n {
			v := *(*uint32)(unsafe.Add(items, i*stride))
			prefetchAtAsm(unsafe.Add(base, uint64(v)>>shift<<scale), 1)
		}
	}
}

// RankZeros returns how many 1-bits precede zero number from, and how many precede zero number to, in
// the bit string unary, which has n 1-bits in 64-bit words. Zeros are counted from 1: no 1-bit precedes
// zero number 0, and all n precede a zero that does not exist. from <= to.
func RankZeros(unary []byte, from, to uint64, n int) (lo, hi int) {
	if active == avx512 && len(unary) > 0 && to > 0 {
		return rankZerosAsm(unary, from, to, n)
	}
	return rankZerosGo(unary, from, to, n)
}

// ScanBlock searches an Elias-Fano block of n keys, n <= BlockKeys: high unary words, then packed
// values of width w, with Slack readable bytes after them. [lo, hi) is what RankZeros returns for the
// unary words. near reuses dst and has the positions, ascending, of the values that differ from the w
// lowest bits of q in at most k bits. It may have a few positions outside [lo, hi), which the caller
// must skip. from <= to.
func ScanBlock(dst []uint32, block []byte, high, w, n int, from, to uint64, q uint64, k int) (near []uint32, lo, hi int) {
	if active == avx512 && high > 0 && to > 0 && k >= 0 {
		return scanBlockAsm(dst, block, high, w, n, from, to, q, k)
	}
	return scanBlockGo(dst, block, high, w, n, from, to, q, k)
}
