package minhash

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// An encoded sketch is an Elias-Fano list of its n hashes, within 0.6 bits per hash of the least
// possible size:
//
//	uvarint   n                       nothing follows if it is 0
//	byte      l                       floor(log2((last+1)/n)), 0..32: the low bits of a hash
//	l*n bits  low                     the low l bits of each hash, ascending
//	bits      high                    for each hash, a 0 for every 1<<l by which its high bits
//	                                  exceed the previous hash's, then a 1: n + last>>l bits
//	bits      padding                 zeros to a whole byte
//
// low and high are one string of bits; bits fill bytes from the lowest. A set of hashes has exactly
// one encoding.

// MaxEncoded is the maximum number of hashes in an encoded sketch.
const MaxEncoded = 1 << 20

// ErrEncoding is wrapped by the error for bytes that are not an encoded sketch.
var ErrEncoding = errors.New("minhash: malformed sketch")

// lowBits returns l for a sketch of n hashes, which are distinct, so that last+1 >= n.
func lowBits(n int, last uint32) int { return bits.Len64((uint64(last)+1)/uint64(n)) - 1 }

// AppendEncoded appends the encoding of s to dst. s must ascend without repetitions and have at
// most MaxEncoded hashes. With N = 32 the sketch of a text of 230 words needs about 105 bytes.
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
	dst = slices.Grow(dst, size+8)[:start+size+8] // any byte has 8 bytes from it on
	out := dst[start:]
	clear(out)
	setLow(out, s, uint(l))
	setHigh(out, s, n*l, uint(l))
	return dst[:start+size]
}

// setLow stores the low bits of s in out, which must have 8 bytes more than they need. Bits that do
// not fill a byte yet stay in a register: reading bytes that have just been written, with a
// different alignment, would stall.
func setLow(out []byte, s Sketch, l uint) {
	mask := uint64(1)<<l - 1
	pending, have := uint64(0), uint(0)
	add := func(bits uint64, n uint) { // n is at most 56
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

// setHigh stores the high bits of s in out, from bit start on. All bits after start must be 0.
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

// Decode decodes the sketch at the start of src, appends its hashes to dst, and returns the rest of
// src. It accepts only the output of AppendEncoded.
func Decode(dst Sketch, src []byte) (s Sketch, rest []byte, err error) {
	n, size := binary.Uvarint(src)
	if size <= 0 || n > MaxEncoded || size > 1 && src[size-1] == 0 { // the last: not the shortest
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

// decodeHashes appends n hashes of l low bits to dst; none if src ends early or the high bits of a
// hash exceed 32 bits. end is the position of the bit after them. It has two loops because each
// needs few variables.
func decodeHashes(dst Sketch, src []byte, n, l int) (s Sketch, end int) {
	before := len(dst)
	dst = slices.Grow(dst, n)[:before+n]
	out, start := dst[before:], n*l
	end = highBits(out, src, start)
	if end < 0 || uint64(end-start-n) > math.MaxUint32>>l { // they ascend
		return dst[:before], 0
	}
	var padded [64*32/8 + 8]byte
	if start>>3+8 > len(src) { // then there are fewer than 64 hashes, since each has a high bit
		copy(padded[:], src)
		src = padded[:]
	}
	mask, at := uint32(uint64(1)<<l-1), 0
	for i, high := range out {
		low := binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7)
		out[i] = high<<l | uint32(low)&mask
		at += l
	}
	return dst, end
}

// highBits sets out to the high bits of len(out) hashes, which are encoded from bit start of src
// on. The i-th one, at bit p, means that the high bits of hash i are p - start - i. It returns the
// position of the bit after them, or -1 if src ends early.
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

// load returns up to eight bytes of src from i on as an integer.
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
