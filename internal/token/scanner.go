package token

// window is a segment of text, with space for a complete last block and for loads past its end.
type window [maxSegment + segmentPad]byte

// scanner computes the hashes of the words of a text, a segment at a time. It stores the state of a
// word that is cut off at the end of a piece, so text may come in pieces of any size.
//
// It alternates between two paths. The ASCII path begins between words and processes the complete
// words of a segment, up to the first byte that is not ASCII. The Unicode path continues from
// there, rune by rune, until it is between words and only ASCII follows. When it is called again,
// it may continue an open word.
//
// Invariant: no word is open on the ASCII path.
type scanner struct {
	h       Hasher
	props   *props
	symbols bool // runs of symbols are words; only the Unicode path is used
	open    openWord
	uni     bool // the Unicode path is active
	invalid int  // number of bytes that were not UTF-8
	masks   [maxSegment / blockBytes]uint64
	edges   [maxSegment]uint16
	tail    window // the last bytes of a text, padded for loads past the end
}

func (s *scanner) invalidBytes() int { return s.invalid }

// reset prepares s for the next text.
func (s *scanner) reset() {
	s.open.kind = openNone
	s.uni = s.symbols
	s.invalid = 0
}

// endWord ends the open word and returns its hash.
func (s *scanner) endWord() uint64 {
	if s.open.kind == openSymbols {
		s.open.add(s.h, symbolEnd, 1)
	}
	s.open.kind = openNone
	return s.open.end(s.h)
}

// openWord is a word whose end has not been reached. Folded bytes are added piece by piece. It
// computes the same hash as Hasher.Word, in constant space for words of any length.
type openWord struct {
	kind   openKind
	n      int    // bytes in lo and hi, at most 16 between calls
	lo, hi uint64 // the current chunk, little-endian, zero from byte n on
	v      uint64 // the hash of the previous chunks
}

func (w *openWord) begin(h Hasher, kind openKind) { *w = openWord{kind: kind, v: h.k1} }

// add appends the low size bytes of raw; its other bytes must be zero. size is at most 4.
func (w *openWord) add(h Hasher, raw uint64, size int) {
	at := uint(8 * w.n) // the bit position of raw; shifts by 64 and more give 0
	if at < 64 {
		w.lo |= raw << at
		w.hi |= raw >> (64 - at)
	} else {
		w.hi |= raw << (at - 64)
	}
	if w.n += size; w.n > 16 { // the chunk is full, and another one follows
		w.v = w.end(h)
		w.lo, w.hi = raw>>(128-at), 0
		w.n -= 16
	}
}

// addText appends folded text.
func (w *openWord) addText(h Hasher, text string) {
	for i := range len(text) {
		w.add(h, uint64(text[i]), 1)
	}
}

// end returns the hash of the word.
func (w *openWord) end(h Hasher) uint64 { return fold(w.lo^h.k0, w.hi^w.v) }
