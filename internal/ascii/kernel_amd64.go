package ascii

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
