package setjoin

import "math/bits"

// A bitmap is the exclusive or of one bit for each element of a set. Two bitmaps differ in at
// most as many bits as there are elements in only one of the sets. (Sandes, Teodoro, Melo,
// "Bitmap Filter: Speeding up Exact Set Similarity Joins with Bitwise Operations", Information
// Systems 2020)
type bitmap [2]uint64

const bitmapBytes = 16

// bitmapOf returns the bitmap of a set; it ignores the skip trailing bits, which hold no hash.
func bitmapOf(set []uint64, skip int) (b bitmap) {
	low, all := uint64(0), uint64(0) // in registers
	for _, h := range set {
		h = h >> (skip & 63) << (skip & 63)
		h *= 0x9e3779b97f4a7c15
		bit := uint64(1) << (h >> 57 & 63)
		all ^= bit
		low ^= bit & (h>>63 - 1)
	}
	return bitmap{low, low ^ all}
}

// differ counts the bits that differ between two bitmaps.
func (b *bitmap) differ(c *bitmap) int {
	return bits.OnesCount64(b[0]^c[0]) + bits.OnesCount64(b[1]^c[1])
}
