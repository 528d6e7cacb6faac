//go:build amd64 && !purego

package kernel

import (
	"slices"
	"unsafe"
)

//go:generate sh -c "cd asm && go run . -out ../asm_amd64.s -stubs ../asm_amd64.go -pkg kernel"

// lanes512 says how eight packed values spread over the lanes of a register, for each width and
// each bit of a byte where the first value may begin: for each lane the eight bytes that hold its
// value (indices for VPERMB), then for each lane the bits to shift it by (VPSRLVQ).
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

// lanes2 is the same for AVX2, whose shuffles stay within 16 bytes: those hold a pair of values,
// loaded from the first byte of the pair. It has the indices of four pairs (VPSHUFB), the shifts of
// eight lanes, and the first bytes of the pairs.
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

// scanPackedAsm scans the whole groups that overlap [from, to) and drops the positions outside.
func scanPackedAsm(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	first, groups := from&^7, (to+7)>>3-from>>3
	packed = packed[first>>3*w:]
	_ = packed[(groups-1)*w+63] // the last byte that is read
	n := len(dst)
	dst = slices.Grow(dst, 8*groups)
	out := &dst[:n+1][n]
	var found int
	if active == AVX512 {
		found = scanPackedAVX512(out, &packed[0], &lanes512[w][0], w, groups, first, q, uint64(k))
	} else {
		found = scanPackedAVX2(out, &packed[0], &lanes2[w], w, groups, first, q, uint64(k))
	}
	dst = dst[:n+found]
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

// scanBlockAsm may leave positions outside [lo, hi) in near, but none of other groups.
func scanBlockAsm(dst []uint32, block []byte, high, w, n int, from, to uint64, q uint64, k int) (near []uint32, lo, hi int) {
	_ = block[8*high+(n-1)>>3*w+63] // the last byte that is read
	dst = slices.Grow(dst[:0], BlockKeys)
	lo, hi, found := scanBlockAVX512(&dst[:1][0], &block[0], &lanes512[w][0], high, w, n, from, to, q, uint64(k))
	return dst[:found], lo, hi
}

// flatChunk is the greatest number of positions that scanFlatAsm makes room for at a time.
const flatChunk = 4096

func scanFlatAsm(dst []uint32, keys []uint64, q uint64, k int) []uint32 {
	first := 0
	for ; len(keys)-first >= 8; first += flatChunk {
		groups := min(len(keys)-first, flatChunk) >> 3
		n := len(dst)
		dst = slices.Grow(dst, 8*groups)
		out := &dst[:n+1][n]
		if active == AVX512 {
			n += scanFlatAVX512(out, &keys[first], groups, first, q, uint64(k))
		} else {
			n += scanFlatAVX2(out, &keys[first], groups, first, q, uint64(k))
		}
		dst = dst[:n]
	}
	rest := len(keys) &^ 7
	return scanFlatGo(dst, keys[rest:], rest, q, k)
}

// manyPairs is the greatest number of pairs that scanManyAsm makes room for at a time, unless one
// row of tiles has more.
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

// When keys are first compared coarsely, and how (see asm/many.go).
const (
	// coarseTwoMost and coarseFourMost are the greatest k for two words and for four. Of
	// comparisons of four queries with 32 unrelated keys in two words, 4 % let tiles pass with a k
	// of 5, and 19 % with 6. In four words, of keys that share 20 bits with the queries, as in a
	// join, it is 14 % with 8, and 56 % with 9.
	coarseTwoMost, coarseFourMost = 5, 8
	// coarseLeast is the least number of keys times rows of tiles. Where they are fewer, little
	// time can be gained, and more than that is lost if there is a near pair.
	coarseLeast = 96
	// coarseKeys is how many keys are compared at a time. If the last ones are no more than a tile,
	// those are not compared coarsely.
	coarseKeys = 32
)

// scanManyOnce makes room for all pairs before their number is known.
func scanManyOnce(dst, queries, keys []uint64, k int) []uint64 {
	n := len(dst)
	// AVX-512 stores eight pairs at a time, the last seven of which may not be any.
	dst = slices.Grow(dst, len(queries)*len(keys)+tileKeys-1)
	out := &dst[:n+1][n]
	coarse := (len(keys) + coarseKeys - tileKeys - 1) &^ (coarseKeys - 1)
	switch {
	case active == AVX2:
		return scanManyAVX2(dst, queries, keys, k)
	case k > coarseFourMost || (len(queries)+tileQueries-1)/tileQueries*len(keys) < coarseLeast || coarse == 0:
		n += scanManyAVX512(out, &queries[0], len(queries), &keys[0], len(keys), uint64(k))
	case k > coarseTwoMost:
		n += coarseFourAVX512(out, &queries[0], len(queries), &keys[0], len(keys), uint64(k), coarse)
	default:
		n += coarseTwoAVX512(out, &queries[0], len(queries), &keys[0], len(keys), uint64(k), coarse)
	}
	return dst[:n]
}

// scanManyAVX2 requires room for all pairs after dst.
func scanManyAVX2(dst, queries, keys []uint64, k int) []uint64 {
	whole := len(keys) &^ (tileKeys - 1)
	for first := 0; first < len(queries); first += tileQueries {
		var row [tileQueries]uint64
		rows := copy(row[:], queries[first:])
		if whole > 0 {
			n := len(dst)
			n += scanTilesAVX2(&dst[:n+1][n], &row, rows, first, &keys[0], whole/tileKeys, uint64(k))
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

func prefetch2Asm(p, q []byte) {
	prefetchTwo(unsafe.SliceData(p), (len(p)+63)>>6, unsafe.SliceData(q), (len(q)+63)>>6)
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
	_ = packed[(groups-1)*w+63] // the last byte that is read
	decodeAVX512(&k.keys, &k.ones, &unary[0], len(unary)>>3, &packed[0], &lanes512[w][0], w, groups, base, Mask(w))
}

func scanSpansAsm(dst []uint64, spans []Span) []uint64 {
	all := 0
	for i := range spans {
		all += int(spans[i].to - spans[i].from)
	}
	n := len(dst)
	dst = slices.Grow(dst, all)
	return dst[:n+scanSpansAVX512(&dst[:n+1][n], (*byte)(unsafe.Pointer(&spans[0])), len(spans), &lanes512)]
}

func prefetchSpansAsm(spans []Span) { prefetchSpans((*byte)(unsafe.Pointer(&spans[0])), len(spans)) }

// ascendingAsm compares groups of eight with their successors, the last of which may overlap the
// one before it.
func ascendingAsm(keys []uint64) bool {
	groups := (len(keys) - 1) >> 3
	return ascendAVX512(&keys[0], groups) && ascendAVX512(&keys[len(keys)-9], 1)
}

func crc32cAsm(sum uint32, p []byte) uint32 { return ^crcAVX512(&p[0], len(p), ^sum) }

// count adds the positional counts of the words of x.
func (l Level) count(counts *[64]uint32, x []uint64) {
	switch l {
	case AVX512:
		countAVX512(counts, unsafe.SliceData(x), len(x))
	case AVX2:
		count256(counts, x)
	default:
		countGeneric(counts, x)
	}
}

// countMixed adds the positional counts of mix(h+add) for every h in x.
func (l Level) countMixed(counts *[64]uint32, x []uint64, add uint64) {
	switch l {
	case AVX512:
		countMixedAVX512(counts, unsafe.SliceData(x), len(x), add)
	case AVX2:
		countMixed256(counts, x, add)
	default:
		countMixedGeneric(counts, x, add)
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

// masks is Masks, after its checks.
func (l Level) masks(dst []uint64, text []byte) int {
	switch l {
	case AVX512:
		return masksAVX512(unsafe.SliceData(dst), unsafe.SliceData(text), len(dst))
	case AVX2:
		return masksAVX2(unsafe.SliceData(dst), unsafe.SliceData(text), len(dst))
	}
	return masksGo(dst, text)
}

// edges is Edges, after its checks.
func (l Level) edges(dst []uint16, masks []uint64) int {
	if l == AVX512 {
		return edgesAVX512(unsafe.SliceData(dst), unsafe.SliceData(masks), len(masks))
	}
	return edgesGo(dst, masks)
}

// hashWords is HashWords with AVX-512, for full groups.
func (l Level) hashWords(dst []uint64, text []byte, edges []uint16, k0, k1 uint64) int {
	return hashWordsAVX512(&dst[0], &text[0], &edges[0], len(dst)/WordGroup, k0, k1)
}

// shingles makes as many of the shingles as are quickly made, and returns how many.
func (l Level) shingles(dst, words []uint64, size int, p Poly) int {
	if l != AVX512 || len(dst) < 8 {
		return 0
	}
	shinglesAVX512(&dst[0], &words[0], len(dst)/8, size, p.Base, p.Mul)
	return len(dst) &^ 7
}

// below does as many of the hashes as are quickly done, and returns how many passed and how many
// those were.
func (l Level) below(dst []uint32, hashes []uint64, limit uint64) (n, done int) {
	if l != AVX512 || len(hashes) < 8 {
		return 0, 0
	}
	return belowAVX512(&dst[0], &hashes[0], len(hashes)/8, limit), len(hashes) &^ 7
}

// common is commonGo for lists that are not empty.
func (l Level) common(a, b []uint32, need int) int {
	switch l {
	case AVX512:
		return commonAVX512(&a[0], len(a), &b[0], len(b), need)
	case AVX2:
		n, i, j := commonAVX2(&a[0], len(a), &b[0], len(b), need)
		return n + merge(a[i:], b[j:])
	}
	return commonGo(a, b, need)
}

// The AVX-512 filter takes whole groups of bitmaps and returns the indices of those that pass in a
// buffer, where each group may write as many as it has bitmaps.
const (
	filterGroup = 8
	filterChunk = 512
)

// filter is Filter for max >= 0.
func (l Level) filter(dst []uint32, q *[8]uint64, bitmaps [][8]uint64, max int) []uint32 {
	if l != AVX512 {
		return filterGo(dst, q, bitmaps, max, 0)
	}
	var buf [filterChunk]uint32
	first := 0
	for len(bitmaps)-first >= filterGroup {
		groups := min(len(bitmaps)-first, filterChunk) / filterGroup
		n := filterAVX512(&buf, q, &bitmaps[first], groups, uint32(first), uint64(max))
		dst = append(dst, buf[:n]...)
		first += groups * filterGroup
	}
	return filterGo(dst, q, bitmaps[first:], max, first)
}

// eight computes the next eight columns of a band, and returns false if it cannot.
func (l Level) eight(b *band, columns []rune) bool {
	blocks := b.last + 1 - b.first
	if l != AVX512 || blocks < leastTogether {
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
