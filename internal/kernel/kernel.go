package kernel

import (
	"hash/crc32"
	"unsafe"
)

// ScanPacked appends to dst, in ascending order, the positions i in [from, to) whose packed value
// differs from the w lowest bits of q in at most k bits. packed must have Slack readable bytes
// after value to-1.
func ScanPacked(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	if from >= to || k < 0 {
		return dst
	}
	if at.scanPacked == Go {
		return scanPackedGo(dst, packed, w, from, to, q, k)
	}
	return scanPackedAsm(dst, packed, w, from, to, q, k)
}

// ScanFlat appends to dst, in ascending order, the positions of keys that differ from q in at most
// k bits.
func ScanFlat(dst []uint32, keys []uint64, q uint64, k int) []uint32 {
	if k < 0 {
		return dst
	}
	if at.scanFlat == Go {
		return scanFlatGo(dst, keys, 0, q, k)
	}
	return scanFlatAsm(dst, keys, q, k)
}

// Prefetch prefetches the cache lines of p. It never waits for them.
func Prefetch(p []byte) {
	if at.prefetch != Go && len(p) > 0 {
		prefetchAsm(p)
	}
}

// PrefetchAt prefetches n bytes at p; n must be at least 1. p may be any address.
func PrefetchAt(p unsafe.Pointer, n uintptr) {
	if at.prefetch != Go {
		prefetchAtAsm(p, n)
	}
}

// Prefetch2 prefetches the cache lines of p and of q.
func Prefetch2(p, q []byte) {
	if at.prefetch != Go && len(p) > 0 && len(q) > 0 {
		prefetch2Asm(p, q)
	}
}

// PrefetchEach prefetches one cache line for each of n items that are stride bytes apart: the cache
// line of the byte at base + v>>shift<<scale, where v is the 32-bit number at the item's start.
func PrefetchEach(base, items unsafe.Pointer, n, stride int, shift, scale uint) {
	if at.prefetchEach != Go && n > 0 {
		prefetchEachAsm(base, items, n, stride, shift, scale)
	}
}

// RankZeros returns the number of 1-bits before zero number from, and before zero number to, in the
// bit string unary, which has n 1-bits in 64-bit words. Zeros are counted from 1: there is no 1-bit
// before zero number 0, and all n are before a zero that does not exist. from must be at most to.
func RankZeros(unary []byte, from, to uint64, n int) (lo, hi int) {
	if at.rankZeros != Go && len(unary) > 0 && to > 0 {
		return rankZerosAsm(unary, from, to, n)
	}
	return rankZerosGo(unary, from, to, n)
}

// ScanBlock searches an Elias-Fano block of n keys, n <= BlockKeys. The block has high unary words,
// then packed values of width w, followed by Slack readable bytes. lo and hi are the results of
// RankZeros for the unary words. near reuses dst and has, in ascending order, the positions in [lo,
// hi) of values that differ from the w lowest bits of q in at most k bits. from must be at most to.
func ScanBlock(dst []uint32, block []byte, high, w, n int, from, to uint64, q uint64, k int) (near []uint32, lo, hi int) {
	lo, hi = RankZeros(block[:8*high], from, to, n)
	return ScanPacked(dst[:0], block[8*high:], w, lo, hi, q, k), lo, hi
}

// Select returns the position of 1-bit number i of w, counted from 0. w must have more than i
// 1-bits.
func Select(w uint64, i int) int {
	if at.selectBit != Go {
		return selectBit(w, i)
	}
	return selectGo(w, i)
}

// ScanMany appends to dst, as i<<32 | j, every pair of a query i and a key j that differ in at most
// k bits. Pairs are ordered by tiles of four queries and eight keys: first the pairs of queries
// 0..3 and keys 0..7, by query and then by key, then those of the same queries and keys 8..15, and
// so on for the next queries. There must be less than 1<<32 queries and keys. Space for at least
// 32,768 pairs is allocated before their number is known.
func ScanMany(dst, queries, keys []uint64, k int) []uint64 {
	if len(queries) == 0 || len(keys) == 0 || k < 0 {
		return dst
	}
	if at.scanMany == Go {
		return scanManyGo(dst, queries, keys, k)
	}
	return scanManyAsm(dst, queries, keys, k)
}

// ScanSpans appends to dst, for every span, the positions of near values in ascending order, as
// number of the span<<32 | position. Each span is scanned as in ScanPacked, but with less overhead,
// which matters for spans of a few values.
func ScanSpans(dst []uint64, spans []Span) []uint64 {
	if at.scanSpans != Go && len(spans) > 0 {
		return scanSpansAsm(dst, spans)
	}
	return scanSpansEach(dst, spans)
}

func scanSpansEach(dst []uint64, spans []Span) []uint64 {
	var space [BlockKeys + 8]uint32
	for i := range spans {
		s := &spans[i]
		packed := unsafe.Slice(s.packed, int(s.to-1)>>3*int(s.width)+64)
		for _, pos := range ScanPacked(space[:0], packed, int(s.width), int(s.from), int(s.to), s.query, int(s.bound)) {
			dst = append(dst, uint64(i)<<32|uint64(pos))
		}
	}
	return dst
}

// PrefetchSpans prefetches the cache lines of the values of all spans.
func PrefetchSpans(spans []Span) {
	if at.prefetch != Go && len(spans) > 0 {
		prefetchSpansAsm(spans)
	}
}

// Decode returns the keys [lo, hi) of an Elias-Fano block, hi <= BlockKeys. They are valid until
// the next call. Key i is base + p<<w + low, where 1-bit number i of the unary part is at bit p+i,
// and low is packed value i of width w; the w lowest bits of base are 0. The unary part, which consists of 64-bit words, must have
// at least hi 1-bits; further keys are undefined. packed must have Slack readable bytes after value
// hi-1.
func (k *Keys) Decode(unary, packed []byte, w, lo, hi int, base uint64) []uint64 {
	if lo >= hi {
		return nil
	}
	if at.decode != Go && len(unary) > 0 {
		k.decodeAsm(unary, packed, w, hi, base)
	} else {
		k.decodeGo(unary, packed, w, lo, hi, base)
	}
	return k.keys[lo:hi]
}

// Ascending reports whether no key is less than its predecessor.
func Ascending(keys []uint64) bool {
	if at.ascending != Go && len(keys) > 8 {
		return ascendingAsm(keys)
	}
	return ascendingGo(keys)
}

// crcLeast is the minimum number of bytes for the AVX-512 checksum.
const crcLeast = 256

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32C returns the Castagnoli checksum of some bytes followed by p. sum is the checksum of the
// former, or 0 if there are none.
func CRC32C(sum uint32, p []byte) uint32 {
	if at.crc32c != Go && len(p) >= crcLeast {
		return crc32cAsm(sum, p)
	}
	return crc32.Update(sum, castagnoli, p)
}
