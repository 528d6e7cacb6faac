package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// The ASCII path processes text in segments. From each 64 bytes it computes a mask of the bytes
// that belong to words, from the masks the offsets of the starts and ends of words, and then the
// hashes of these words. No step branches on the text, except for words longer than 16 bytes, which
// are rare.
const (
	blockBytes   = kernel.TextBlock
	segment      = 32 * blockBytes      // bytes of text per segment
	segmentPad   = 16                   // bytes after a segment that loading a word may read
	maxSegment   = segment + blockBytes // size of the last segment of a text, which is padded to whole blocks
	segmentWords = maxSegment/2 + 1     // largest number of words in a segment
)

// asciiPrefix returns the number of ASCII bytes at the start of block, and their mask of word
// bytes. The next byte is not ASCII.
func asciiPrefix(block *[blockBytes]byte) (mask uint64, n int) {
	for x := uint64(0); x == 0 && n < blockBytes; {
		x = binary.LittleEndian.Uint64(block[n:]) & highs
		n += bits.TrailingZeros64(x) / 8 // 8 if x is 0
	}
	var prefix [blockBytes]byte
	copy(prefix[:], block[:n])
	var masks [1]uint64
	kernel.Masks(masks[:], prefix[:])
	return masks[0], n
}

// chunkMask[n] has the masks for the low and the high 8 bytes of a word of n bytes.
var chunkMask = func() (m [17][2]uint64) {
	for n := range m {
		m[n][0] = 1<<(8*min(n, 8)) - 1
		m[n][1] = 1<<(8*max(n-8, 0)) - 1
	}
	return m
}()

// hashEdges stores the hash of the word text[edges[2i]:edges[2i+1]] in dst[i]. The bytes of words
// must be 0-9, A-Z, a-z. It may read up to 16 bytes after a word, which it ignores.
func (h Hasher) hashEdges(dst []uint64, text *window, edges []uint16) {
	for len(dst) > 0 {
		n := kernel.HashWords(dst, text[:], edges, h.k0, h.k1)
		dst, edges = dst[n:], edges[2*n:]
		// The rest begins with an incomplete group, or has a long word.
		n = min(len(dst), kernel.WordGroup)
		for i := range dst[:n] {
			dst[i] = h.hashLong(text, uint(edges[2*i]), uint(edges[2*i+1]))
		}
		dst, edges = dst[n:], edges[2*n:]
	}
}

// hashMasks computes hashes from masks of words, for processors without a kernel for offsets and
// hashes. It stores the hashes of the words that end before the offset end in dst. It returns their
// number, and the start of a word that does not end there, or -1.
func (h Hasher) hashMasks(dst *[segmentWords]uint64, text *window, masks []uint64, end int) (n, open int) {
	k0, k1 := h.k0, h.k1
	open = -1
	before := uint64(0)
	for i, m := range masks {
		edges := m ^ (m<<1 | before) // bits that differ from the previous one
		before = m >> 63
		base := i * blockBytes
		for edges != 0 {
			at := base + bits.TrailingZeros64(edges)
			edges &= edges - 1
			if open < 0 {
				open = at
				if edges == 0 {
					break
				}
				at = base + bits.TrailingZeros64(edges)
				edges &= edges - 1
			}
			if at == end {
				return n, open
			}
			if size := uint(at - open); size <= 16 && uint(open) <= maxSegment {
				b := text[open:]
				lo := (binary.LittleEndian.Uint64(b) | lowCase) & chunkMask[size][0]
				hi := (binary.LittleEndian.Uint64(b[8:]) | lowCase) & chunkMask[size][1]
				dst[n] = fold(hi^k1, lo^k0)
			} else {
				dst[n] = h.hashLong(text, uint(open), uint(at))
			}
			n++
			open = -1
		}
	}
	return n, open
}

// hashLong returns the hash of the word text[start:end] of any length.
func (h Hasher) hashLong(text *window, start, end uint) uint64 {
	v := h.k1
	for ; end-start > 16; start += 16 {
		v = fold((binary.LittleEndian.Uint64(text[start:])|lowCase)^h.k0, (binary.LittleEndian.Uint64(text[start+8:])|lowCase)^v)
	}
	m := &chunkMask[end-start]
	lo := (binary.LittleEndian.Uint64(text[start:]) | lowCase) & m[0]
	hi := (binary.LittleEndian.Uint64(text[start+8:]) | lowCase) & m[1]
	return fold(lo^h.k0, hi^v)
}
