// Package kernel holds the bit kernels: the inner loops that compare a 64-bit query with many keys at once.
//
// Two shapes of input occur. A flat array of uint64 (the memtable, or a decoded block), and the packed low bits of an
// Elias-Fano block: value i of width w occupies bits [i*w, (i+1)*w) of a little-endian bit string, so eight values fill w
// bytes exactly and a kernel may start at any multiple of eight.
//
// Widths are 0..58, 60 and 64: those where a value's first byte and the seven after it always hold all of its bits, whatever
// its position (see RoundWidth). Every implementation returns the same positions in the same order.
package kernel

import "math/bits"

// Slack is the number of bytes past the last packed value that a kernel may read (and ignore).
const Slack = 64

// RoundWidth returns the least supported width >= w, for w in 0..64. A value of width w at bit i*w starts (i*w)%8 bits into
// its first byte, so it fits into eight bytes if w + max((i*w)%8) <= 64.
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

// Name returns the name of the implementation in use: "go", "avx2" or "avx512".
func Name() string { return "go" }

// ScanPacked appends to dst the positions i in [from, to) whose packed value differs from the w lowest bits of q in at most
// k bits, ascending. packed must hold Slack readable bytes past the value to-1.
func ScanPacked(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	return scanPackedGo(dst, packed, w, from, to, q, k)
}

// ScanFlat appends to dst the positions of keys that differ from q in at most k bits, ascending.
func ScanFlat(dst []uint32, keys []uint64, q uint64, k int) []uint32 {
	return scanFlatGo(dst, keys, q, k)
}

// Prefetch asks for the cache lines of p to be loaded; it never waits for them.
func Prefetch(p []byte) {}

// Get returns packed value i of width w. packed must hold seven bytes past the value's first.
func Get(packed []byte, w, i int) uint64 {
	bit := i * w
	return load64(packed[bit>>3:]) >> (bit & 7) & Mask(w)
}

func load64(p []byte) uint64 {
	_ = p[7]
	return uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
		uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
}

func scanPackedGo(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	mask := Mask(w)
	q &= mask
	bit := from * w
	for i := from; i < to; i++ {
		low := load64(packed[bit>>3:]) >> (bit & 7) & mask
		if bits.OnesCount64(low^q) <= k {
			dst = append(dst, uint32(i))
		}
		bit += w
	}
	return dst
}

func scanFlatGo(dst []uint32, keys []uint64, q uint64, k int) []uint32 {
	for i, key := range keys {
		if bits.OnesCount64(key^q) <= k {
			dst = append(dst, uint32(i))
		}
	}
	return dst
}
