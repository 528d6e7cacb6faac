//go:build !purego

package pospop

import (
	"unsafe"

	"github.com/simdb/simdb/internal/simd"
)

// count adds the positional counts of the words of x.
func (k kernel) count(counts *[64]uint32, x []uint64) {
	switch simd.Level(k) {
	case simd.AVX512:
		countAVX512(counts, unsafe.SliceData(x), len(x))
	case simd.AVX2:
		count256(counts, x)
	default:
		countGeneric(counts, x)
	}
}

// countMixed adds the positional counts of mix(h+add) for every h in x.
func (k kernel) countMixed(counts *[64]uint32, x []uint64, add uint64) {
	switch simd.Level(k) {
	case simd.AVX512:
		countMixedAVX512(counts, unsafe.SliceData(x), len(x), add)
	case simd.AVX2:
		countMixed256(counts, x, add)
	default:
		countMixedGeneric(counts, x, add)
	}
}

// countSelected adds the positional counts of those words of x whose weight, in weights, has the
// bit 1<<bit.
func (k kernel) countSelected(counts *[64]uint32, x []uint64, weights []int32, bit int) {
	switch simd.Level(k) {
	case simd.AVX512:
		countSelectedAVX512(counts, unsafe.SliceData(x), len(x), unsafe.SliceData(weights), 1<<bit)
	case simd.AVX2:
		countSelected256(counts, x, weights, bit)
	default:
		countSelectedGeneric(counts, x, weights, bit)
	}
}

// The AVX2 kernels count whole blocks, at most maxAVX2 words at a time so that their byte counters
// do not overflow, and a last block of padding.
const (
	blockAVX2 = 64
	maxAVX2   = 254 * blockAVX2
)

// count256 is count with AVX2.
func count256(counts *[64]uint32, x []uint64) {
	for ; len(x) > maxAVX2; x = x[maxAVX2:] {
		countAVX2(counts, &x[0], maxAVX2/blockAVX2, nil)
	}
	var tail [blockAVX2]uint64
	last := &tail
	if copy(tail[:], x[len(x)&^(blockAVX2-1):]) == 0 {
		last = nil
	}
	countAVX2(counts, unsafe.SliceData(x), len(x)/blockAVX2, last)
}

// countMixed256 is countMixed with AVX2. It pads with -add, since mix(0) = 0.
func countMixed256(counts *[64]uint32, x []uint64, add uint64) {
	for ; len(x) > maxAVX2; x = x[maxAVX2:] {
		countMixedAVX2(counts, &x[0], maxAVX2/blockAVX2, nil, add)
	}
	var tail [blockAVX2]uint64
	last := &tail
	n := copy(tail[:], x[len(x)&^(blockAVX2-1):])
	if n == 0 {
		last = nil
	}
	for i := n; i < len(tail); i++ {
		tail[i] = -add
	}
	countMixedAVX2(counts, unsafe.SliceData(x), len(x)/blockAVX2, last, add)
}

// countSelected256 is countSelected with AVX2, which counts what Go selects.
func countSelected256(counts *[64]uint32, x []uint64, weights []int32, bit int) {
	var buf [chunk]uint64
	for len(x) > 0 {
		n := selectWords(&buf, x, weights, bit)
		count256(counts, buf[:n])
		x, weights = x[n:], weights[n:]
	}
}
