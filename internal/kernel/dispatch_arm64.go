//go:build !purego

package kernel

import (
	"math/bits"
	"slices"
	"unsafe"
)

// highest returns NEON, which every arm64 has.
func highest() Level { return NEON }

// prefetchLines prefetches n cache lines at p.
//
//go:noescape
func prefetchLines(p *byte, n int)

// scanFlatNEON writes to dst the positions, counted from first, of groups*8 keys that differ from q in
// at most k bits, k <= 64, and returns their number.
//
//go:noescape
func scanFlatNEON(dst *uint32, keys *uint64, groups, first int, q, k uint64) (count int)

// scanPackedNEON is scanFlatNEON for the packed values of groups*8 keys and the bits of mask.
//
//go:noescape
func scanPackedNEON(dst *uint32, packed *byte, l *[160]byte, width, groups, first int, q, k, mask uint64) (count int)

// scanTilesNEON writes to dst the pairs of groups*8 keys and the first rows of four queries, and returns
// their number. query is the number of the first query.
//
//go:noescape
func scanTilesNEON(dst *uint64, queries *[4]uint64, rows, query int, keys *uint64, groups int, k uint64) (count int)

// filterNEON stores in dst the indexes of n bitmaps, starting at first, that have at least need bits
// of q, and returns their number. It overwrites n elements of dst.
//
//go:noescape
func filterNEON(dst *uint32, q, bitmaps *[4]uint64, n, first, need int) (count int)

// masksNEON is Masks for a number of blocks.
//
//go:noescape
func masksNEON(dst *uint64, text *byte, blocks int) int

// prefetchEach is PrefetchEach; n must be at least one.
//
//go:noescape
func prefetchEach(base, items *byte, n, stride int, shift, scale uint64)

func prefetch2Asm(p, q []byte) {
	prefetchAsm(p)
	prefetchAsm(q)
}

func prefetchEachAsm(base, items unsafe.Pointer, n, stride int, shift, scale uint) {
	prefetchEach((*byte)(base), (*byte)(items), n, stride, uint64(shift), uint64(scale))
}

func prefetchSpansAsm(spans []Span) {
	for i := range spans {
		s := &spans[i]
		from := int(s.from) * int(s.width) >> 3
		prefetchAtAsm(unsafe.Add(unsafe.Pointer(s.packed), from), uintptr(int(s.to)*int(s.width)>>3-from+1))
	}
}

func scanPackedGroups(dst *uint32, packed *byte, w, groups, first int, q uint64, k int) int {
	return scanPackedNEON(dst, packed, &lanes2[w], w, groups, first, q, uint64(min(k, 64)), Mask(w))
}

func scanFlatGroups(dst *uint32, keys *uint64, groups, first int, q uint64, k int) int {
	return scanFlatNEON(dst, keys, groups, first, q, uint64(min(k, 64)))
}

// tileRow compares whole tiles of keys with the first rows of four queries.
func tileRow(dst *uint64, row *[tileQueries]uint64, rows, query int, keys *uint64, tiles, k int) int {
	return scanTilesNEON(dst, row, rows, query, keys, tiles, uint64(min(k, 64)))
}

func scanManyOnce(dst, queries, keys []uint64, k int) []uint64 {
	return scanManyRows(slices.Grow(dst, len(queries)*len(keys)+tileKeys-1), queries, keys, k)
}

func filterAsm(dst []uint32, q *[4]uint64, bitmaps [][4]uint64, max int) []uint32 {
	if len(bitmaps) == 0 {
		return dst
	}
	n, all := len(dst), 0
	for _, w := range q {
		all += bits.OnesCount64(w)
	}
	dst = slices.Grow(dst, len(bitmaps))
	return dst[:n+filterNEON(&dst[:n+1][n], q, &bitmaps[0], len(bitmaps), 0, all-max)]
}

func masksAsm(dst []uint64, text []byte) int {
	return masksNEON(unsafe.SliceData(dst), unsafe.SliceData(text), len(dst))
}
