package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// The ASCII path takes text in segments: 64 bytes become one mask of the bytes that belong to
// words, the masks become the offsets at which words start and end, and the words between them are
// hashed. No step branches on the text except for words longer than 16 bytes, which are rare.
const (
	blockBytes   = kernel.TextBlock
	segment      = 32 * blockBytes      // bytes of text taken at a time
	segmentPad   = 16                   // bytes past a segment that a load of a word may touch
	maxSegment   = segment + blockBytes // of the last segment of a text, which is padded to whole blocks
	segmentWords = maxSegment/2 + 1     // no segment holds more words
)

// asciiPrefix returns the mask of word bytes of the ASCII bytes that block starts with, and how
// many they are. Another byte follows them.
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

// chunkMask[n] are the masks of the low and the high 8 bytes of a word of n bytes.
var chunkMask = func() (m [17][2]uint64) {
	for n := range m {
		m[n][0] = 1<<(8*min(n, 8)) - 1
		m[n][1] = 1<<(8*max(n-8, 0)) - 1
	}
	return m
}()

// hashEdges stores to dst[i] the hash of the word text[edges[2i]:edges[2i+1]], whose bytes are all
// 0-9, A-Z, a-z. It may read, and ignores, up to 16 bytes past a word.
func (h Hasher) hashEdges(dst []uint64, text *window, edges []uint16) {
	for len(dst) > 0 {
		n := kernel.HashWords(dst, text[:], edges, h.k0, h.k1)
		dst, edges = dst[n:], edges[2*n:]
		// What is left begins with a group that is not full, or has a long word.
		n = min(len(dst), kernel.WordGroup)
		for i := range dst[:n] {
			dst[i] = h.hashLong(text, uint(edges[2*i]), uint(edges[2*i+1]))
		}
		dst, edges = dst[n:], edges[2*n:]
	}
}

// hashMasks does the same from masks of words, where there is no kernel for offsets and hashes: it
// stores to dst the hashes of the words that end before the offset end. It returns how many they
// are, and where the word starts that does not, or -1.
func (h Hasher) hashMasks(dst *[segmentWords]uint64, text *window, masks []uint64, end int) (n, open int) {
	k0, k1 := h.k0, h.k1
	open = -1
	before := uint64(0)
	for i, m := range masks {
		edges := m ^ (m<<1 | before) // bits that differ from the one before
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
