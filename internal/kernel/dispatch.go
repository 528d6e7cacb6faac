//go:build (amd64 || arm64) && !purego

package kernel

import (
	"slices"
	"unsafe"
)

// lanes2 describes how eight packed values are distributed to the lanes of registers if shuffles are
// limited to 16 bytes, as in AVX2 and NEON. These contain a pair
// of values, loaded from the first byte of the pair. It has the indexes of four pairs (VPSHUFB),
// the shifts of eight lanes, and the first bytes of the pairs.
var lanes2 = makeLanes2()

func makeLanes2() (all [65][160]byte) {
	for w := range all {
		for lane := range 8 {
			pairByte := (lane &^ 1) * w >> 3
			for i := range 8 {
				all[w][8*lane+i] = byte(lane*w>>3 - pairByte + i)
			}
			all[w][64+8*lane] = byte(lane * w & 7)
			all[w][128+8*(lane>>1)] = byte(pairByte)
		}
	}
	return all
}

// scanPackedAsm scans the whole groups that overlap [from, to) and removes positions outside.
func scanPackedAsm(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	first, groups := from&^7, (to+7)>>3-from>>3
	packed = packed[first>>3*w:]
	_ = packed[(groups-1)*w+63] // the last byte to be read
	n := len(dst)
	dst = slices.Grow(dst, 8*groups)
	out := &dst[:n+1][n]
	dst = dst[:n+scanPackedGroups(out, &packed[0], w, groups, first, q, k)]
	for len(dst) > n && dst[len(dst)-1] >= uint32(to) {
		dst = dst[:len(dst)-1]
	}
	before := n
	for before < len(dst) && dst[before] < uint32(from) {
		before++
	}
	if before > n {
		dst = append(dst[:n], dst[before:]...)
	}
	return dst
}

// flatChunk is the largest number of positions that scanFlatAsm allocates space for at a time.
const flatChunk = 4096

func scanFlatAsm(dst []uint32, keys []uint64, q uint64, k int) []uint32 {
	first := 0
	for ; len(keys)-first >= 8; first += flatChunk {
		groups := min(len(keys)-first, flatChunk) >> 3
		n := len(dst)
		dst = slices.Grow(dst, 8*groups)
		dst = dst[:n+scanFlatGroups(&dst[:n+1][n], &keys[first], groups, first, q, k)]
	}
	rest := len(keys) &^ 7
	return scanFlatGo(dst, keys[rest:], rest, q, k)
}

// manyPairs is the largest number of pairs that scanManyAsm allocates space for at a time, unless
// one row of tiles has more.
const manyPairs = 1 << 15

func scanManyAsm(dst, queries, keys []uint64, k int) []uint64 {
	if len(queries)*len(keys) <= manyPairs {
		return scanManyOnce(dst, queries, keys, k)
	}
	rows := max(manyPairs/len(keys)&^(tileQueries-1), tileQueries)
	for first := 0; first < len(queries); first += rows {
		n := len(dst)
		dst = scanManyOnce(dst, queries[first:min(first+rows, len(queries))], keys, k)
		for i := n; first > 0 && i < len(dst); i++ {
			dst[i] += uint64(first) << 32
		}
	}
	return dst
}

// scanManyRows requires space for all pairs after dst.
func scanManyRows(dst, queries, keys []uint64, k int) []uint64 {
	whole := len(keys) &^ (tileKeys - 1)
	for first := 0; first < len(queries); first += tileQueries {
		var row [tileQueries]uint64
		rows := copy(row[:], queries[first:])
		if whole > 0 {
			n := len(dst)
			n += tileRow(&dst[:n+1][n], &row, rows, first, &keys[0], whole/tileKeys, k)
			dst = dst[:n]
		}
		dst = scanTileGo(dst, row[:rows], first, keys[whole:], whole, k)
	}
	return dst
}

func prefetchAsm(p []byte) { prefetchLines(&p[0], (len(p)+63)>>6) }

func prefetchAtAsm(p unsafe.Pointer, n uintptr) {
	prefetchLines((*byte)(p), int(uintptr(p)&63+n+63)>>6)
}
