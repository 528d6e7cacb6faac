package keyrun

import (
	"encoding/binary"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
)

// A search reads only a part of a block: the unary words, and the packed keys of one range, which
// are a third of the block on average. So that it need not read the rest to verify a checksum, the
// blocks of the runs of permuted tables have parts of 128 keys. Such a block starts with the
// checksums of its parts:
//
//	+-------+-------+-------+-------+-----------------+--------+--------+--------+--------+
//	| sum 0 | sum 1 | sum 2 | sum 3 | unary           | part 0 | part 1 | part 2 | part 3 |
//	|   4   |   4   |   4   |   4   | 8*high          | packed keys, 16*width bytes each  |
//	+-------+-------+-------+-------+-----------------+--------+--------+--------+--------+
//
// The sums and the unary words are the head of the block. The CRC32C in the directory covers the
// head, and each sum covers its part. In a last block with fewer keys, the parts end with the
// packed keys, so one part may be short, and the following ones empty.
const (
	blockParts = 4
	partShift  = BlockShift - 2 // a key's part is its position in the block >> partShift
	sumsSize   = 4 * blockParts
)

// partsOf returns the bits of the parts with the keys [lo, hi) of a block.
func partsOf(lo, hi int) uint64 {
	if lo >= hi {
		return 0
	}
	return 2*firstPartBit<<((hi-1)>>partShift) - firstPartBit<<(lo>>partShift)
}

// partEnd returns the total size in bytes of the parts before part p; size is the size of all
// packed keys.
func partEnd(p, width, size int) int { return min(p*width<<(partShift-3), size) }

// putSums stores the checksums of the parts of packed keys in dst.
func putSums(dst, packed []byte, width int) {
	for p := range blockParts {
		part := packed[partEnd(p, width, len(packed)):partEnd(p+1, width, len(packed))]
		binary.LittleEndian.PutUint32(dst[4*p:], kernel.CRC32C(0, part))
	}
}

// Known says which parts of a block have been verified.
type Known uint64

// All reports whether the whole block has been verified.
func (k Known) All() bool { return k&checkedBit != 0 }

// Head reports whether the unary words have been verified.
func (k Known) Head() bool { return k&headBit != 0 }

// Keys reports whether the unary words and the keys [lo, hi) have been verified.
func (k Known) Keys(lo, hi int) bool {
	need := Known(headBit | partsOf(lo, hi))
	return k&need == need
}

// InfoKnown returns Info, and which parts of the block have been verified.
func (d *Dir) InfoKnown(b int) (Info, Known) {
	w := d.infoWord(b)
	return unpackInfo(w), Known(w)
}

// know records that the parts of block b given by bits have been verified.
func (d *Dir) know(b int, bits uint64) {
	if (d.entries[b].info.Or(bits)|bits)&wholeBits == wholeBits {
		d.setSeen(b)
	}
}

// checkHead verifies the unary words of block b, and the whole block if it has no parts. In a block
// with parts, the first and the last key are checked with their parts.
func (r *Run) checkHead(b int, in Info) error {
	if r.sums == 0 {
		if err := r.checkCRC(b); err != nil {
			return err
		}
		return r.checkEnds(b, in, r.limit(b))
	}
	if err := r.checkSum(b, in.Off-r.sums, in.Off+8*in.High); err != nil {
		return err
	}
	return r.checkUnary(b, in, r.limit(b))
}

// checkParts verifies parts of block b, whose head has been verified.
func (r *Run) checkParts(b int, in Info, parts uint64) error {
	if r.sums == 0 {
		return nil
	}
	n := r.Count(b)
	packed := r.Packed(in)[:packedSize(n, in.Width)]
	sums := r.data[in.Off-r.sums:][:sumsSize]
	inOrder := b > 0 && r.isSeen(b-1) // as in touch
	for p := range blockParts {
		if parts&(firstPartBit<<p) == 0 {
			continue
		}
		from, end := partEnd(p, in.Width, len(packed)), partEnd(p+1, in.Width, len(packed))
		if !inOrder {
			r.src.Pages.Touched(end - from)
		}
		if got, want := kernel.CRC32C(0, packed[from:end]), binary.LittleEndian.Uint32(sums[4*p:]); got != want {
			return r.Corrupt(in.Off+8*in.High+from, "block %d: checksum of part %d is %08x, not %08x", b, p, got, want)
		}
	}
	if parts&firstPartBit != 0 {
		if err := r.checkFirst(b, in); err != nil {
			return err
		}
	}
	if parts&partsOf(n-1, n) == 0 {
		return nil
	}
	return r.checkLast(b, in, r.limit(b))
}

// prefetchUnchecked prefetches the data needed to verify the keys [from, to) of block b: its head
// and the parts with these keys, or the whole block if it has no parts, its checksum, and the first
// lead that the verification fills in. to may exceed the block.
func (r *Run) prefetchUnchecked(b int, in Info, from, to int) {
	if l := &r.leads; len(l.words) > 0 {
		kernel.PrefetchAt(unsafe.Pointer(&l.words[r.Base(b)>>uint(l.shift)>>1]), 8)
	}
	kernel.Prefetch(r.src.Dir[b*dirEntry+16:][:4])
	if r.sums == 0 {
		r.PrefetchBlock(b)
		return
	}
	start, end := r.partsExtent(b, in, from, to)
	kernel.Prefetch2(r.data[in.Off-r.sums:in.Off+8*in.High], r.data[start:end])
}

// partsExtent returns the start and the end in the body of the parts with the keys [from, to) of
// block b.
func (r *Run) partsExtent(b int, in Info, from, to int) (start, end int) {
	packed, size := in.Off+8*in.High, packedSize(r.Count(b), in.Width)
	last := min(to-1, BlockLen-1) >> partShift
	return packed + partEnd(min(from>>partShift, last), in.Width, size), packed + partEnd(last+1, in.Width, size)
}
