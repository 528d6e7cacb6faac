package kernel

import (
	"encoding/binary"
	"math/bits"
)

// TextBlock is the number of bytes per mask.
const TextBlock = 64

// maxMasks is the number of masks whose offsets fit 16 bits.
const maxMasks = 1 << 16 / TextBlock

// Masks sets bit b of dst[i] if byte b of the i-th 64 bytes of text is one of 0-9, A-Z, a-z, and
// clears it otherwise. It stops before the first block with a byte that is not ASCII, and returns
// the number of blocks processed, at most len(dst). It panics if text is shorter than 64*len(dst)
// bytes.
func Masks(dst []uint64, text []byte) int {
	_ = text[:TextBlock*len(dst)]
	if at.masks == Go {
		return masksGo(dst, text)
	}
	return masksAsm(dst, text)
}

// Edges stores in dst, in ascending order, the offsets of all bits of masks that differ from the
// previous bit, and returns their number. Bit b of masks[i] has the offset 64*i+b; the bit before
// the first one counts as clear. Therefore, words start at the offsets with even indexes and end
// before those with odd indexes. Edges may overwrite any of the first 64*len(masks) elements of
// dst. It panics if dst is shorter, or if there are more than 1024 masks.
func Edges(dst []uint16, masks []uint64) int {
	if len(masks) > maxMasks {
		panic("kernel: offsets do not fit 16 bits")
	}
	_ = dst[:TextBlock*len(masks)]
	if at.edges == Go {
		return edgesGo(dst, masks)
	}
	return edgesAsm(dst, masks)
}

const (
	ones    = 0x0101010101010101
	highs   = 0x8080808080808080
	lowCase = 0x2020202020202020 // maps A-Z to a-z and leaves a-z unchanged
)

// wordBytes returns a word with the high bit of byte i set if byte i of x is one of 0-9, A-Z, a-z.
// All other bits are clear. All bytes of x must be less than 0x80, so that no addition carries into
// the next byte.
func wordBytes(x uint64) uint64 {
	y := x | lowCase
	// A byte above the end of a range is also above its start, so one XOR replaces AND NOT, which
	// needs two instructions.
	digit := (x + (0x80-'0')*ones) ^ (x + (0x80-'9'-1)*ones)
	letter := (y + (0x80-'a')*ones) ^ (y + (0x80-'z'-1)*ones)
	return (digit | letter) & highs
}

// gather moves the high bits of the eight bytes of x to the low eight bits of the result.
func gather(x uint64) uint64 { return x >> 7 * 0x0102040810204080 >> 56 }

// masksGo is Masks in pure Go.
func masksGo(dst []uint64, text []byte) int {
	for i := range dst {
		b := (*[TextBlock]byte)(text[i*TextBlock:])
		var all, m uint64
		for j := 0; j < TextBlock; j += 8 {
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

// edgesGo is Edges in pure Go.
func edgesGo(dst []uint16, masks []uint64) int {
	n, before := 0, uint64(0)
	for i, m := range masks {
		for e := m ^ (m<<1 | before); e != 0; e &= e - 1 {
			dst[n] = uint16(i*TextBlock + bits.TrailingZeros64(e))
			n++
		}
		before = m >> 63
	}
	return n
}
