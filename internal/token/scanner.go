package token

// window is a segment of text with room for a whole last block and for loads past its end.
type window [maxSegment + segmentPad]byte

// scanner turns text into word hashes, a segment at a time. It carries what a word that is cut off
// at the end of a piece of text needs, so text may come in pieces of any size.
//
// Two paths take turns. The ASCII path begins between words and takes whole words, as many as a
// segment has, up to the first byte that is not ASCII. The Unicode path continues from there rune
// by rune, with a word of its own that may be open when it is called again, until it is between
// words and plain ASCII lies ahead.
//
// Invariant: no word is open while the ASCII path is in charge.
type scanner struct {
	h       Hasher
	symbols bool // runs of symbols are words: then the Unicode path is always in charge
	open    openWord
	uni     bool // the Unicode path is in charge
	invalid int  // bytes that were not UTF-8
	masks   [maxSegment / blockBytes]uint64
	edges   [maxSegment]uint16
	tail    window // the last bytes of a text, with room for loads past the end
}

func (s *scanner) invalidBytes() int { return s.invalid }

// reset makes s ready for the next text.
func (s *scanner) reset() {
	s.open.kind = openNone
	s.uni = s.symbols
	s.invalid = 0
}

// endWord returns the hash of the open word, which it ends.
func (s *scanner) endWord() uint64 {
	if s.open.kind == openSymbols {
		s.open.add(s.h, symbolEnd, 1)
	}
	s.open.kind = openNone
	return s.open.end(s.h)
}

// openWord is a word whose end has not been seen. It takes lower-cased bytes piece by piece and
// hashes as Hasher.Word does, in constant space however long the word is.
type openWord struct {
	kind   openKind
	n      int    // bytes in lo and hi, at most 16 between calls
	lo, hi uint64 // the chunk that is filled, little-endian, zero from byte n on
	v      uint64 // the hash of the chunks before
}

func (w *openWord) begin(h Hasher, kind openKind) { *w = openWord{kind: kind, v: h.k1} }

// add appends the low size bytes of raw, of which the others are zero; size is at most 4.
func (w *openWord) add(h Hasher, raw uint64, size int) {
	at := uint(8 * w.n) // the bit where they go; shifts by 64 and more give 0
	if at < 64 {
		w.lo |= raw << at
		w.hi |= raw >> (64 - at)
	} else {
		w.hi |= raw << (at - 64)
	}
	if w.n += size; w.n > 16 { // more than a chunk: so this one is not the last
		w.v = w.end(h)
		w.lo, w.hi = raw>>(128-at), 0
		w.n -= 16
	}
}

// end returns the hash of the word.
func (w *openWord) end(h Hasher) uint64 { return fold(w.lo^h.k0, w.hi^w.v) }
