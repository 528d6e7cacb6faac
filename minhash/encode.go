package minhash

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// An encoded sketch is an Elias-Fano list of its n hashes, within 0.6 bits a hash of the least
// possible size:
//
//	uvarint   n                       nothing follows if it is 0
//	byte      l                       floor(log2((last+1)/n)), 0..32: the low bits of a hash
//	l*n bits  low                     the low l bits of each hash, ascending
//	bits      high                    for each hash, a 0 for every 1<<l by which its high bits
//	                                  exceed those of the hash before, then a 1: n + last>>l bits
//	bits      padding                 zeros to a whole byte
//
// low and high are one string of bits; bits fill bytes from the lowest. A set of hashes has one
// encoding and no other.

// MaxEncoded is the largest number of hashes that an encoded sketch may have.
const MaxEncoded = 1 << 20

// ErrEncoding is what errors.Is finds in the error for bytes that are not an encoded sketch.
var ErrEncoding = errors.New("minhash: malformed sketch")

// lowBits returns l for a sketch of n hashes, which are distinct, so that last+1 >= n.
func lowBits(n int, last uint32) int { return bits.Len64((uint64(last)+1)/uint64(n)) - 1 }

// AppendEncoded appends the encoding of s, which must be ascending without repetitions and have at
// most MaxEncoded hashes, to dst. With N = 128 the sketch of a text of 1,000 words takes about 390
// bytes.
func (s Sketch) AppendEncoded(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	if len(s) == 0 {
		return dst
	}
	n, last := len(s), s[len(s)-1]
	l := lowBits(n, last)
	dst = append(dst, byte(l))
	start := len(dst)
	size := (n*l + n + int(uint64(last)>>l) + 7) / 8
	dst = slices.Grow(dst, size+8)[:start+size+8] // 8 bytes more, so that any bit has 8 from its byte on
	out := dst[start:]
	clear(out)
	setLow(out, s, uint(l))
	setHigh(out, s, n*l, uint(l))
	return dst[:start+size]
}

// setLow sets out, which has 8 bytes more than the low bits of s take, to these. Bits that do
// not make a byte yet stay in a register: to read what has just been written, at other bounds,
// would be to wait for it.
func setLow(out []byte, s Sketch, l uint) {
	mask := uint64(1)<<l - 1
	pending, have := uint64(0), uint(0)
	add := func(bits uint64, n uint) { // of up to 56
		pending |= bits << (have & 63)
		binary.LittleEndian.PutUint64(out, pending)
		have += n
		out = out[have/8:]
		pending >>= have &^ 7 & 63
		have %= 8
	}
	for ; len(s) >= 2 && l <= 28; s = s[2:] {
		add(uint64(s[0])&mask|uint64(s[1])&mask<<l, 2*l)
	}
	for _, v := range s {
		add(uint64(v)&mask, l)
	}
}

// setHigh sets the high bits of s, from a bit of out on, after which all are 0.
func setHigh(out []byte, s Sketch, start int, l uint) {
	at := start >> 6
	word := binary.LittleEndian.Uint64(out[at<<3:])
	for i, v := range s {
		bit := start + i + int(uint64(v)>>(l&63))
		if bit>>6 != at {
			binary.LittleEndian.PutUint64(out[at<<3:], word)
			at, word = bit>>6, 0
		}
		word |= 1 << (bit & 63)
	}
	binary.LittleEndian.PutUint64(out[at<<3:], word)
}

// Decode appends the hashes of the encoded sketch that src starts with to dst, and returns the rest
// of src. It accepts what AppendEncoded writes and nothing else.
func Decode(dst Sketch, src []byte) (s Sketch, rest []byte, err error) {
	n, size := binary.Uvarint(src)
	if size <= 0 || n > MaxEncoded || size > 1 && src[size-1] == 0 { // the last: longer than need be
		return dst, src, fmt.Errorf("%w: bad number of hashes", ErrEncoding)
	}
	src = src[size:]
	if n == 0 {
		return dst, src, nil
	}
	// Each hash has at least its low bits and a one.
	if len(src) == 0 || src[0] > 32 || n*uint64(src[0]+1) > 8*uint64(len(src)-1) {
		return dst, src, fmt.Errorf("%w: %d hashes in %d bytes", ErrEncoding, n, len(src))
	}
	l := int(src[0])
	src = src[1:]
	before := len(dst)
	dst, end := decodeHashes(dst, src, int(n), l)
	s = dst[before:]
	if len(s) < int(n) {
		return dst[:before], src, fmt.Errorf("%w: it ends early", ErrEncoding)
	}
	for i, v := range s[1:] {
		if v <= s[i] {
			return dst[:before], src, fmt.Errorf("%w: hashes do not ascend", ErrEncoding)
		}
	}
	if l != lowBits(int(n), s[n-1]) {
		return dst[:before], src, fmt.Errorf("%w: %d low bits", ErrEncoding, l)
	}
	if end%8 != 0 && src[end/8]>>(end%8) != 0 {
		return dst[:before], src, fmt.Errorf("%w: padding is not zero", ErrEncoding)
	}
	return dst, src[(end+7)/8:], nil
}

// decodeHashes appends n hashes of l low bits to dst, none if src ends early or the high bits of
// one exceed 32 bits. end is the number of bits they take. It is two loops since each needs few
// variables.
func decodeHashes(dst Sketch, src []byte, n, l int) (s Sketch, end int) {
	before := len(dst)
	dst = slices.Grow(dst, n)[:before+n]
	out, start := dst[before:], n*l
	end = highBits(out, src, start)
	if end < 0 || uint64(end-start-n) > math.MaxUint32>>l { // they ascend
		return dst[:before], 0
	}
	var room [64*32/8 + 8]byte
	if start>>3+8 > len(src) { // there are less than 64 hashes, as many bits follow
		copy(room[:], src)
		src = room[:]
	}
	mask, at := uint32(uint64(1)<<l-1), 0
	for i, high := range out {
		low := binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7)
		out[i] = high<<l | uint32(low)&mask
		at += l
	}
	return dst, end
}

// highBits sets out to the high bits of as many hashes, which start at a bit of src: one at bit p
// is that of hash i, and says that they are p - start - i. It returns the bit where they end, or -1
// if src ends before.
func highBits(out []uint32, src []byte, start int) (end int) {
	at := start &^ 7
	ones := load(src, at>>3) >> (start & 7) << (start & 7)
	for i := range out {
		for ones == 0 {
			if at += 64; at >= 8*len(src) {
				return -1
			}
			ones = load(src, at>>3)
		}
		end = at + bits.TrailingZeros64(ones)
		ones &= ones - 1
		out[i] = uint32(end - start - i)
	}
	return end + 1
}

// load returns the up to eight bytes of src from i on as an integer.
func load(src []byte, i int) uint64 {
	if i+8 <= len(src) {
		return binary.LittleEndian.Uint64(src[i:])
	}
	return loadTail(src[i:])
}

// loadTail is load for the last bytes of an encoding.
func loadTail(src []byte) uint64 {
	var b [8]byte
	copy(b[:], src)
	return binary.LittleEndian.Uint64(b[:])
}
