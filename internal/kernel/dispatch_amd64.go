//go:build amd64 && !purego

package kernel

import (
	"slices"
	"unsafe"
)

//go:generate sh -c "cd asm && go run . -out ../asm_amd64.s -stubs ../asm_amd64.go -pkg kernel"

// lanes512 describes how eight packed values are distributed to the lanes of a register, for each
// width and each bit of a byte at which the first value may begin: first, for each lane, the eight
// bytes that contain its value (indexes for VPERMB), then the number of bits to shift each lane by
// (VPSRLVQ).
var lanes512 = makeLanes512()

func makeLanes512() (all [65][8][128]byte) {
	for w := range all {
		for start := range all[w] {
			l := &all[w][start]
			for lane := range 8 {
				bit := start + lane*w
				for i := range 8 {
					l[8*lane+i] = byte(bit>>3 + i)
				}
				l[64+8*lane] = byte(bit & 7)
			}
		}
	}
	return all
}

func scanPackedGroups(dst *uint32, packed *byte, w, groups, first int, q uint64, k int) int {
	if at.scanPacked == AVX512 {
		return scanPackedAVX512(dst, packed, &lanes512[w][0], w, groups, first, q, uint64(k))
	}
	return scanPackedAVX2(dst, packed, &lanes2[w], w, groups, first, q, uint64(k))
}

func scanFlatGroups(dst *uint32, keys *uint64, groups, first int, q uint64, k int) int {
	if at.scanFlat == AVX512 {
		return scanFlatAVX512(dst, keys, groups, first, q, uint64(k))
	}
	return scanFlatAVX2(dst, keys, groups, first, q, uint64(k))
}

// tileRow compares whole tiles of keys with the first rows of four queries.
func tileRow(dst *uint64, row *[tileQueries]uint64, rows, query int, keys *uint64, tiles, k int) int {
	return scanTilesAVX2(dst, row, rows, query, keys, tiles, uint64(k))
}

func prefetch2Asm(p, q []byte) {
	prefetchTwo(unsafe.SliceData(p), (len(p)+63)>>6, unsafe.SliceData(q), (len(q)+63)>>6)
}

// Conditions for coarse comparisons (see asm/many.go).
const (
	// coarseTwoMost and coarseFourMost are the largest k for two and for four words. With two
	// words, 4 % of the comparisons of four queries with 32 unrelated keys pass if k is 5, and 19 %
	// if k is 6. With four words, and keys that share 20 bits with the queries, as in a join, 14 %
	// pass if k is 8, and 56 % if k is 9.
	coarseTwoMost, coarseFourMost = 5, 8
	// coarseLeast is the smallest number of keys times rows of tiles. With fewer, little time can
	// be gained, and a single near pair costs more than that.
	coarseLeast = 96
	// coarseKeys is the number of keys that are compared at a time. If the last keys are only one
	// tile, they are not compared coarsely.
	coarseKeys = 32
)

// scanManyOnce allocates space for all pairs before their number is known.
func scanManyOnce(dst, queries, keys []uint64, k int) []uint64 {
	n := len(dst)
	// AVX-512 stores eight pairs at a time; up to seven of the last eight may be invalid.
	dst = slices.Grow(dst, len(queries)*len(keys)+tileKeys-1)
	out := &dst[:n+1][n]
	coarse := (len(keys) + coarseKeys - tileKeys - 1) &^ (coarseKeys - 1)
	switch {
	case at.scanMany == AVX2:
		return scanManyRows(dst, queries, keys, k)
	case k > coarseFourMost || (len(queries)+tileQueries-1)/tileQueries*len(keys) < coarseLeast || coarse == 0:
		n += scanManyAVX512(out, &queries[0], len(queries), &keys[0], len(keys), uint64(k))
	case k > coarseTwoMost:
		n += coarseFourAVX512(out, &queries[0], len(queries), &keys[0], len(keys), uint64(k), coarse)
	default:
		n += coarseTwoAVX512(out, &queries[0], len(queries), &keys[0], len(keys), uint64(k), coarse)
	}
	return dst[:n]
}

func prefetchEachAsm(base, items unsafe.Pointer, n, stride int, shift, scale uint) {
	prefetchEach((*byte)(base), (*byte)(items), n, stride, uint64(shift), uint64(scale))
}

func rankZerosAsm(unary []byte, from, to uint64, n int) (lo, hi int) {
	return rankZeros(&unary[0], len(unary)>>3, from, to, n)
}

// decodeAsm decodes whole groups of eight.
func (k *Keys) decodeAsm(unary, packed []byte, w, hi int, base uint64) {
	groups := (hi + 7) >> 3
	_ = packed[(groups-1)*w+63] // the last byte to be read
	if at.decode == AVX512 {
		decodeAVX512(&k.keys, &k.ones, &unary[0], len(unary)>>3, &packed[0], &lanes512[w][0], w, groups, base, Mask(w))
	} else {
		decodeAVX2(&k.keys, &k.ones, &unary[0], len(unary)>>3, &packed[0], &lanes2[w], w, groups, base)
	}
}

func scanSpansAsm(dst []uint64, spans []Span) []uint64 {
	all := 0
	for i := range spans {
		all += int(spans[i].to - spans[i].from)
	}
	n := len(dst)
	dst = slices.Grow(dst, all)
	first, out := (*byte)(unsafe.Pointer(&spans[0])), &dst[:n+1][n]
	if at.scanSpans == AVX512 {
		return dst[:n+scanSpansAVX512(out, first, len(spans), &lanes512)]
	}
	return dst[:n+scanSpansAVX2(out, first, len(spans), &lanes2)]
}

func prefetchSpansAsm(spans []Span) { prefetchSpans((*byte)(unsafe.Pointer(&spans[0])), len(spans)) }

// ascendingAsm compares groups of eight with their successors. The last group may overlap the
// previous one.
func ascendingAsm(keys []uint64) bool {
	groups := (len(keys) - 1) >> 3
	return ascendAVX512(&keys[0], groups) && ascendAVX512(&keys[len(keys)-9], 1)
}

func crc32cAsm(sum uint32, p []byte) uint32 { return ^crcAVX512(&p[0], len(p), ^sum) }

func countAsm(counts *[64]uint32, x []uint64) {
	if at.count == AVX512 {
		countAVX512(counts, unsafe.SliceData(x), len(x))
	} else {
		count256(counts, x)
	}
}

func countMixedAsm(counts *[64]uint32, x []uint64, add uint64) {
	if at.countMixed == AVX512 {
		countMixedAVX512(counts, unsafe.SliceData(x), len(x), add)
	} else {
		countMixed256(counts, x, add)
	}
}

// The AVX2 kernels count whole blocks, and at most maxAVX2 words at a time so that their byte
// counters do not overflow. The last block is padded.
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

// countMixed256 is countMixed with AVX2. It pads with -add, because mix(0) = 0.
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

func masksAsm(dst []uint64, text []byte) int {
	if at.masks == AVX512 {
		return masksAVX512(unsafe.SliceData(dst), unsafe.SliceData(text), len(dst))
	}
	return masksAVX2(unsafe.SliceData(dst), unsafe.SliceData(text), len(dst))
}

func edgesAsm(dst []uint16, masks []uint64) int {
	if at.edges == AVX2 {
		return edgesAVX2(unsafe.SliceData(dst), unsafe.SliceData(masks), len(masks))
	}
	return edgesAVX512(unsafe.SliceData(dst), unsafe.SliceData(masks), len(masks))
}

// hashWordsAsm hashes full groups, at least one.
func hashWordsAsm(dst []uint64, text []byte, edges []uint16, k0, k1 uint64) int {
	if at.hashWords == AVX2 {
		return hashWordsAVX2(&dst[0], &text[0], &edges[0], len(dst)/WordGroup, k0, k1)
	}
	return hashWordsAVX512(&dst[0], &text[0], &edges[0], len(dst)/WordGroup, k0, k1)
}

// shinglesAsm computes the first shingles, of at least eight, and returns their number, which may be
// less than all.
func shinglesAsm(dst, words []uint64, size int, p Poly) int {
	shinglesAVX512(&dst[0], &words[0], len(dst)/8, size, p.Base, p.Mul)
	return len(dst) &^ 7
}

// belowAsm processes the first hashes, of at least eight. It returns the number of hashes that
// passed, and the number processed.
func belowAsm(dst []uint32, hashes []uint64, limit uint64) (n, done int) {
	return belowAVX512(&dst[0], &hashes[0], len(hashes)/8, limit), len(hashes) &^ 7
}

// commonAsm is commonGo.
func commonAsm(a, b []uint32, need int) int {
	if at.common == AVX512 {
		return commonAVX512(&a[0], len(a), &b[0], len(b), need)
	}
	n, i, j := commonAVX2(&a[0], len(a), &b[0], len(b), need)
	return n + merge(a[i:], b[j:])
}

// The AVX-512 filter processes whole groups of bitmaps. It returns the indexes of bitmaps that pass
// in a buffer, where each group may write as many indexes as it has bitmaps.
const (
	filterGroup = 16
	filterChunk = 512
)

// filterAsm is FilterBitmaps for max >= 0.
func filterAsm(dst []uint32, q *[4]uint64, bitmaps [][4]uint64, max int) []uint32 {
	if at.filter == AVX2 && len(bitmaps) > 0 {
		n := len(dst)
		dst = slices.Grow(dst, len(bitmaps))
		return dst[:n+filterAVX2(&dst[:n+1][n], q, &bitmaps[0], len(bitmaps), 0, max)]
	}
	var buf [filterChunk]uint32
	first := 0
	for len(bitmaps)-first >= filterGroup {
		groups := min(len(bitmaps)-first, filterChunk) / filterGroup
		n := filterAVX512(&buf, q, &bitmaps[first], groups, uint32(first), uint32(max))
		dst = append(dst, buf[:n]...)
		first += groups * filterGroup
	}
	return filterGo(dst, q, bitmaps[first:], max, first)
}

// eight computes the next eight columns of a band. It returns false if the band is too small.
func (b *band) eight(columns []rune) bool {
	blocks := b.last + 1 - b.first
	if blocks < leastTogether {
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
