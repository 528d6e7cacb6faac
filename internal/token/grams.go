package token

import (
	"unicode"
	"unicode/utf8"
)

// gramScanner computes the hashes of the characters of a text, for character n-grams: its letters,
// marks and numbers, lower-cased, with one space for each run of other characters between two of
// them. With symbols, only white space counts as other characters. Each character is hashed as a
// word of one rune, so an n-gram is a shingle of n characters.
type gramScanner struct {
	h       Hasher
	symbols bool                  // characters other than white space are characters, too
	is      [utf8.RuneSelf]bool   // whether an ASCII byte is a character
	ascii   [utf8.RuneSelf]uint64 // hash of each ASCII character
	space   uint64
	any     bool // a character was found
	gap     bool // a space must precede the next character
	invalid int
}

func newGramScanner(h Hasher, symbols bool) *gramScanner {
	s := &gramScanner{h: h, symbols: symbols, space: h.Word([]byte(" "))}
	for b := range s.is {
		lower, ok := s.char(rune(b))
		s.is[b], s.ascii[b] = ok, h.Word([]byte(string(lower)))
	}
	return s
}

// char returns a rune in lower case, and whether it is a character.
func (s *gramScanner) char(r rune) (lower rune, ok bool) {
	class, lower := property(r)
	return lower, class != classOther || s.symbols && !unicode.IsSpace(r)
}

func (s *gramScanner) reset() { s.any, s.gap, s.invalid = false, false, 0 }

func (s *gramScanner) invalidBytes() int { return s.invalid }

// next is like scanner.next, for characters instead of words.
func (s *gramScanner) next(dst *[segmentWords]uint64, text []byte, final bool) (chars, read int) {
	for read < len(text) && chars < segmentWords-1 {
		size, hash, ok := 1, uint64(0), false
		if b := text[read]; b < utf8.RuneSelf {
			hash, ok = s.ascii[b], s.is[b]
		} else {
			if !final && !utf8.FullRune(text[read:]) {
				break
			}
			var r rune
			r, size = utf8.DecodeRune(text[read:])
			if r == utf8.RuneError && size == 1 {
				s.invalid++
			}
			var lower rune
			if lower, ok = s.char(r); ok {
				var buf [utf8.UTFMax]byte
				hash = s.h.Word(utf8.AppendRune(buf[:0], lower))
			}
		}
		read += size
		if !ok {
			s.gap = s.any
			continue
		}
		if s.gap {
			dst[chars] = s.space
			chars++
		}
		dst[chars] = hash
		chars++
		s.any, s.gap = true, false
	}
	return chars, read
}

// finish ends the text. There is nothing left to store.
func (s *gramScanner) finish(*[segmentWords]uint64) int { return 0 }
