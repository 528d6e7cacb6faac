package selfjoin

import (
	"math/bits"

	"github.com/simdb/simdb/internal/base"
)

// maxWidth is the width in bits of the widest block: 8,192 buckets, whose list heads of 2 bytes
// stay in the first-level cache with the group.
const maxWidth = 13

// block is a set of w bit positions that assigns fingerprints to buckets: fingerprints that agree
// in all positions have the same bucket. If the positions are consecutive, the converse holds as
// well; otherwise the bucket is a hash, and worker.found confirms the agreement.
type block struct {
	mask  uint64 // the positions
	mul   uint64 // moves the bits to the top of the word: a power of two, or a hash
	shift uint8  // 64 - w
}

// hashMul mixes bits that are not adjacent (the multiplier of Fibonacci hashing, 2^64 divided by
// the golden ratio).
const hashMul = 0x9e3779b97f4a7c15

// bucket returns the bucket of fp, which is less than size.
func (b block) bucket(fp base.Fingerprint) uint32 {
	return uint32(fp & b.mask * b.mul >> (b.shift & 63))
}

// size returns the number of buckets.
func (b block) size() int { return 1 << (64 - b.shift) }

// cut appends n disjoint blocks of w positions each from avail, highest positions first. avail
// must have at least n*w positions.
func cut(dst []block, avail uint64, w, n int) []block {
	for range n {
		rest := avail
		for range w {
			rest &^= 1 << (bits.Len64(rest) - 1)
		}
		dst = append(dst, newBlock(avail&^rest))
		avail = rest
	}
	return dst
}

func newBlock(mask uint64) block {
	top, w := bits.Len64(mask), bits.OnesCount64(mask)
	b := block{mask: mask, mul: hashMul, shift: uint8(64 - w)}
	if top-bits.TrailingZeros64(mask) == w {
		b.mul = 1 << (64 - top)
	}
	return b
}
