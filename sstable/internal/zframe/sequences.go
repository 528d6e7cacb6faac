package zframe

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A code is a sequence as it is written: a symbol for each of its numbers, and the rest of these,
// which the symbols give the lengths of.
type code struct {
	rest                    uint64 // of literals, match and offset, from the lowest bit
	width                   uint8  // of rest, at most 48
	literals, offset, match uint8  // symbols
}

// Numbers from these on have a symbol for each power of two.
const (
	tableLiterals = 64
	tableMatches  = 128
	overLiterals  = 18 // what is added to the bits of a number for its symbol
	overMatches   = 35
)

// literalBits and matchBits have how many bits of a number are not in its symbol. Those of an
// offset are as many as the symbol says.
var (
	literalBits = [symbols]uint8{16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	matchBits   = [symbols]uint8{32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

// literalSymbols and matchSymbols have the symbols of numbers up to the limits above.
var literalSymbols, matchSymbols = symbolsOf(tableLiterals, &literalBits), symbolsOf(tableMatches, &matchBits)

// symbolsOf returns the symbols of the numbers below n, given their bits: a symbol of b bits is
// that of 1<<b numbers.
func symbolsOf(n int, width *[symbols]uint8) (of [tableMatches]uint8) {
	for i, symbol := 0, 0; i < n; symbol++ {
		for range 1 << width[symbol] {
			if i < n {
				of[i] = uint8(symbol)
			}
			i++
		}
	}
	return of
}

// appendSequences appends the section of sequences: their number, how each of the tables is
// written, the tables, and the stream.
func (e *encoder) appendSequences(dst []byte) []byte {
	n := len(e.sequences)
	if n < 128 {
		dst = append(dst, byte(n))
	} else { // less than 0x7f00, as a match has 4 bytes
		dst = append(dst, byte(n>>8+128), byte(n))
	}
	if n == 0 {
		return dst
	}
	e.makeCodes()
	modes := len(dst)
	dst = append(dst, 0)
	for i := range e.coders {
		c := &e.coders[i]
		c.prepare(n)
		dst[modes] |= c.mode() << (6 - 2*i)
		dst = c.appendTable(dst)
	}
	return e.appendStream(dst)
}

// makeCodes sets codes, and counts the symbols.
func (e *encoder) makeCodes() {
	literals, offsets, matches := &e.coders[0].counts, &e.coders[1].counts, &e.coders[2].counts
	clear(literals[:])
	clear(offsets[:])
	clear(matches[:])
	e.codes = slices.Grow(e.codes[:0], len(e.sequences))[:len(e.sequences)]
	sequences, codes := e.sequences, e.codes
	for i := range codes {
		s := &sequences[i]
		l, o, m := uint8(0), uint8(bits.Len32(s.offset)-1), uint8(0)
		if s.literals < tableLiterals {
			l = literalSymbols[s.literals]
		} else {
			l = uint8(bits.Len32(s.literals) + overLiterals)
		}
		if s.match < tableMatches {
			m = matchSymbols[s.match]
		} else {
			m = uint8(bits.Len32(s.match) + overMatches)
		}
		lb, mb := literalBits[l%symbols], matchBits[m%symbols]
		c := &codes[i] // field by field: a copy of a whole code would wait for its parts
		c.rest = low(s.literals, lb) | low(s.match, mb)<<(lb&63) | low(s.offset, o)<<((lb+mb)&63)
		c.width, c.literals, c.offset, c.match = lb+mb+o, l, o, m
		literals[l%symbols]++
		offsets[o%symbols]++
		matches[m%symbols]++
	}
}

// low returns the lowest n bits of v.
func low(v uint32, n uint8) uint64 { return uint64(v & (1<<(n&31) - 1)) }

// appendStream appends the stream, which a decoder reads from its end: it has the sequences from
// the last to the first, of each the bits by which the states of the coders change and the rest,
// then the states, and a one. Bits fill bytes from the lowest. Those that have not been stored, or
// not in a whole byte, are the lowest n of pending; all is in variables, which stay in registers.
func (e *encoder) appendStream(dst []byte) []byte {
	const most = 10 // bytes of a code: 24 bits of states, 48 of the rest
	size, begin := most*len(e.codes)+32, len(dst)
	dst = slices.Grow(dst, size)
	out, at := dst[begin:begin+size], 0
	literals, offsets, matches := &e.coders[0], &e.coders[1], &e.coders[2]
	c := &e.codes[len(e.codes)-1]
	l, o, m := literals.first(c.literals), offsets.first(c.offset), matches.first(c.match)
	pending, n := c.rest, uint(c.width)
	for i := len(e.codes) - 2; i >= 0; i-- {
		c := &e.codes[i]
		var bo, bm, bl uint64
		var no, nm, nl uint
		o, bo, no = offsets.step(o, c.offset)
		m, bm, nm = matches.step(m, c.match)
		l, bl, nl = literals.step(l, c.literals)
		binary.LittleEndian.PutUint64(out[at:], pending)
		at += int(n >> 3)
		pending >>= n &^ 7 & 63
		n &= 7
		pending |= (bo | bm<<(no&63) | bl<<((no+nm)&63)) << (n & 63)
		n += no + nm + nl
		if n+uint(c.width) > 63 {
			binary.LittleEndian.PutUint64(out[at:], pending)
			at += int(n >> 3)
			pending >>= n &^ 7 & 63
			n &= 7
		}
		pending |= c.rest << (n & 63)
		n += uint(c.width)
	}
	binary.LittleEndian.PutUint64(out[at:], pending)
	at += int(n >> 3)
	w := shortStream{dst: dst[:begin+at], bits: pending >> (n &^ 7 & 63), n: n & 7}
	w.add(low(m, uint8(matches.log)), matches.log)
	w.add(low(o, uint8(offsets.log)), offsets.log)
	w.add(low(l, uint8(literals.log)), literals.log)
	w.add(1, 1)
	return w.end()
}
