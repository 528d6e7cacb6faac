package pospop

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// kernels returns the kernels of this machine, fastest first.
func kernels() []kernel {
	var ks []kernel
	x := cpu.X86
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VBMI && x.HasAVX512BITALG &&
		x.HasAVX512GFNI && x.HasBMI2 {
		ks = append(ks, kernel{name: "avx512", count: count512, countMixed: countMixed512})
	}
	if x.HasAVX2 {
		ks = append(ks, kernel{name: "avx2", count: count256, countMixed: countMixed256})
	}
	return append(ks, generic)
}

// count512 is count with AVX-512.
func count512(counts *[64]uint32, x []uint64) {
	countAVX512(counts, unsafe.SliceData(x), len(x))
}

// countMixed512 is countMixed with AVX-512.
func countMixed512(counts *[64]uint32, x []uint64, add uint64) {
	countMixedAVX512(counts, unsafe.SliceData(x), len(x), add)
}

// The AVX2 kernels count whole blocks, so many at a time that their narrow counters hold, and a last block of padding.
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
	if n := copy(tail[:], x[len(x)&^(blockAVX2-1):]); n == 0 {
		last = nil
	} else {
		for i := n; i < len(tail); i++ {
			tail[i] = -add
		}
	}
	countMixedAVX2(counts, unsafe.SliceData(x), len(x)/blockAVX2, last, add)
}
