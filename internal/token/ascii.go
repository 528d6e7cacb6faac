package token

import (
	"encoding/binary"
	"math/bits"
)

// The ASCII path takes text in segments: 64 bytes become one mask of the bytes that belong to words, the masks become
// the offsets at which words start and end, and the words between them are hashed. No step branches on the text but
// for words longer than 16 bytes, which are rare.
const (
	blockBytes   = 64
	segment      = 32 * blockBytes      // bytes of text taken at a time
	segmentPad   = 16                   // bytes past a segment that a load of a word may touch
	maxSegment   = segment + blockBytes // of the last segment of a text, which is padded to whole blocks
	segmentWords = maxSegment/2 + 1     // no segment holds more words
)

// window is a segment of text with room for a whole last block and for loads past its end.
type window [maxSegment + segmentPad]byte

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// wordBytes returns a word whose byte i has its high bit set, and no other, if byte i of x is one of 0-9, A-Z, a-z. No
// byte of x may be 0x80 or more: then no addition carries into the next byte.
func wordBytes(x uint64) uint64 {
	y := x | lowCase
	digit := (x + (0x80-'0')*ones) &^ (x + (0x80-'9'-1)*ones)
	letter := (y + (0x80-'a')*ones) &^ (y + (0x80-'z'-1)*ones)
	return (digit | letter) & highs
}

// gather moves the high bits of the eight bytes of x to the low eight bits of the result.
func gather(x uint64) uint64 { return x >> 7 * 0x0102040810204080 >> 56 }

// masksGo stores to dst[i] the mask of word bytes of the i-th 64 bytes of text, and returns for how many of the
// len(dst) blocks it did so: it stops before a block with a byte that is not ASCII.
func masksGo(dst []uint64, text *window) int {
	for i := range dst {
		b := (*[blockBytes]byte)(text[i*blockBytes:])
		var all, m uint64
		for j := 0; j < blockBytes; j += 8 {
			x := binary.LittleEndian.Uint64(b[j:])
			all |= x
			m |= gather(wordBytes(x&^highs)) << j
		}
		if all&highs != 0 {
			return i
		}
		dst[i] = m
	}
	return len(dst)
}

// asciiPrefix returns the mask of word bytes of the ASCII bytes that block starts with, and how many they are.
func asciiPrefix(block []byte) (mask uint64, n int) {
	for n < blockBytes && block[n] < 0x80 {
		mask |= gather(wordBytes(uint64(block[n]))) << n
		n++
	}
	return mask, n
}

// appendEdges stores to dst, from dst[n], the offsets at which mask begins to differ from the bit before it, plus base:
// where words start and end. prev is the bit before the mask. It returns the new n.
func appendEdges(dst *[maxSegment]uint16, n int, edges uint64, base int) int {
	for edges != 0 {
		dst[n] = uint16(base + bits.TrailingZeros64(edges))
		edges &= edges - 1
		n++
	}
	return n
}

// chunkMask[n] are the masks of the low and the high 8 bytes of a word of n bytes.
var chunkMask = func() (m [17][2]uint64) {
	for n := range m {
		m[n][0] = 1<<(8*min(n, 8)) - 1
		m[n][1] = 1<<(8*max(n-8, 0)) - 1
	}
	return m
}()

// hashASCII stores to dst[i], for i below n, the hash of the word text[edges[2i]:edges[2i+1]], whose bytes are all 0-9,
// A-Z, a-z. It may read, and ignores, up to 16 bytes past a word.
func (h Hasher) hashASCII(dst *[segmentWords]uint64, text *window, edges *[maxSegment]uint16, n int) {
	k0, k1 := h.k0, h.k1
	for i := 0; i < n && i < maxSegment/2; i++ {
		start, end := uint(edges[2*i]), uint(edges[2*i+1])
		if end-start > 16 || start >= maxSegment {
			dst[i] = h.hashLong(text, start, end)
			continue
		}
		m := &chunkMask[end-start]
		lo := (binary.LittleEndian.Uint64(text[start:start+8]) | lowCase) & m[0]
		hi := (binary.LittleEndian.Uint64(text[start+8:start+16]) | lowCase) & m[1]
		dst[i] = fold(lo^k0, hi^k1)
	}
}

// hashLong returns the hash of the word text[start:end] of more than 16 bytes.
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
