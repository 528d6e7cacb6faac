// Package zframe compresses a block of texts to a zstd frame (RFC 8878) that every decoder of the
// format reads. It does what the fastest level of a general encoder does, for inputs that are known
// to be short: the whole input is one block, positions have 16 bits, the table of positions stays
// in the first cache level, and nothing is kept from one frame to the next. So a frame depends on
// nothing but the input.
//
//	input -> find: sequences, literals -> literals: Huffman code (package huff0)
//	                                  '-> sequences: codes -> three coders -> one stream of bits
//
// A frame is
//
//	+----------+------+---------------+---------------+----------+----------------------------+
//	| magic  4 | 0x60 | bytes - 256 2 | block header 3| literals | number, tables, stream     |
//	+----------+------+---------------+---------------+----------+----------------------------+
//
// where 0x60 says that the window is the content, whose size follows, and that there is no
// checksum; the block header, that this is the last block, a compressed one, and its size.
package zframe

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/klauspost/compress/huff0"
)

// Limits of an input in bytes.
const (
	MinInput = 256       // from here on the size of the content has two bytes
	MaxInput = 1<<16 - 1 // positions have 16 bits
)

const (
	frameHeader = "\x28\xb5\x2f\xfd\x60"

	lastCompressed = 2<<1 | 1 // of a block header

	// kinds of literals
	rawLiterals        = 0
	repeatedLiterals   = 1
	compressedLiterals = 2

	leastCoded  = 32   // so many literals may be coded
	leastStream = 1024 // from so many literals on they are coded in four streams
)

// An encoder has what one frame at a time needs.
type encoder struct {
	table     table
	literals  []byte
	sequences []sequence
	codes     []code
	coders    [3]coder // of literal lengths, offsets and match lengths: the order of their tables
	huffman   huff0.Scratch
}

var encoders = sync.Pool{New: func() any {
	return &encoder{huffman: huff0.Scratch{Reuse: huff0.ReusePolicyNone}}
}}

// Append appends a frame of src, of MinInput to MaxInput bytes, to dst. Several goroutines may call
// it at once.
func Append(dst, src []byte) []byte {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.find(src)
	dst = append(dst, frameHeader...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(src)-MinInput))
	header := len(dst)
	dst = append(dst, 0, 0, 0)
	dst = e.appendLiterals(dst)
	dst = e.appendSequences(dst)
	size := len(dst) - header - 3
	if size > len(src) { // a block may not be larger than the window
		return appendRaw(dst[:header], src)
	}
	putBytes3(dst[header:], uint64(size)<<3|lastCompressed)
	return dst
}

// appendRaw appends a block of src as it is.
func appendRaw(dst, src []byte) []byte {
	const lastRaw = 0<<1 | 1
	dst = append(dst, 0, 0, 0)
	putBytes3(dst[len(dst)-3:], uint64(len(src))<<3|lastRaw)
	return append(dst, src...)
}

// putBytes3 stores a number of 24 bits.
func putBytes3(b []byte, v uint64) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }

// appendLiterals appends the section of literals: coded, if that is shorter, or as they are.
func (e *encoder) appendLiterals(dst []byte) []byte {
	n := len(e.literals)
	coded, err := []byte(nil), huff0.ErrIncompressible
	switch {
	case n >= leastStream:
		coded, _, err = huff0.Compress4X(e.literals, &e.huffman)
	case n >= leastCoded:
		coded, _, err = huff0.Compress1X(e.literals, &e.huffman)
	}
	switch {
	case errors.Is(err, huff0.ErrUseRLE):
		return append(appendLiteralsHeader(dst, repeatedLiterals, n), e.literals[0])
	case err != nil || len(coded)+5 >= n:
		return append(appendLiteralsHeader(dst, rawLiterals, n), e.literals...)
	}
	return append(appendCodedHeader(dst, n, len(coded)), coded...)
}

// appendLiteralsHeader appends the header of n literals that are not coded: 2 bits for the kind, 2
// for the form of what follows, 20 for n.
func appendLiteralsHeader(dst []byte, kind uint64, n int) []byte {
	dst = append(dst, 0, 0, 0)
	putBytes3(dst[len(dst)-3:], kind|3<<2|uint64(n)<<4)
	return dst
}

// appendCodedHeader appends the header of n literals that are coded to size bytes: 2 bits for the
// kind, 2 for the form, and 10, 14 or 18 for each of the two numbers. Form 0 has one stream, the
// others four.
func appendCodedHeader(dst []byte, n, size int) []byte {
	h, width := uint64(compressedLiterals), 10
	switch {
	case n >= 1<<14:
		h, width = h|3<<2, 18
	case n >= leastStream:
		h, width = h|2<<2, 14
	}
	h |= uint64(n)<<4 | uint64(size)<<(4+width)
	for range (4 + 2*width) / 8 {
		dst = append(dst, byte(h))
		h >>= 8
	}
	return dst
}
