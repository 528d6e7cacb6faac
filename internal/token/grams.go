package token

import (
	"unicode"
	"unicode/utf8"
)

// gramScanner computes the hashes of the characters of a text, for character n-grams: its letters,
// marks and numbers, folded, with one space for each run of other characters between two of
// them. With symbols, only white space counts as other characters. Each character is hashed as a
// word of one rune, so an n-gram is a shingle of n characters.
type gramScanner struct {
	h       Hasher
	props   *props
	symbols bool                  // characters other than white space are characters, too
	is      [utf8.RuneSelf]bool   // whether an ASCII byte is a character
	ascii   [utf8.RuneSelf]uint64 // hash of each ASCII character
	space   uint64
	any     bool // a character was found
	gap     bool // a space must precede the next character
	invalid int
}

func newGramScanner(h Hasher, p *props, symbols bool) *gramScanner {
	s := &gramScanner{h: h, props: p, symbols: symbols, space: h.Word([]byte(" "))}
	for b := range s.is {
		lower, ok := s.char(rune(b))
		s.is[b], s.ascii[b] = ok, h.Word([]byte(string(lower)))
	}
	return s
}

// char returns the folded form of a rune, as props.of, and whether it is a character.
func (s *gramScanner) char(r rune) (lower rune, ok bool) {
	class, lower := s.props.of(r)
	return lower, class != classOther || s.symbols && !unicode.IsSpace(r)
}

func (s *gramScanner) reset() { s.any, s.gap, s.invalid = false, false, 0 }

func (s *gramScanner) invalidBytes() int { return s.invalid }

// next is like scanner.next, for characters instead of words.
func (s *gramScanner) next(dst *[segmentWords]uint64, text []byte, final bool) (chars, read int) {
	const most = 4 // hashes for a rune: a space, and up to three folded runes
	for read < len(text) && chars <= segmentWords-most {
		size, r, ok := 1, rune(text[read]), false
		if r < utf8.RuneSelf {
			ok = s.is[r]
		} else {
			if !final && !utf8.FullRune(text[read:]) {
				break
			}
			r, size = utf8.DecodeRune(text[read:])
			if r == utf8.RuneError && size == 1 {
				s.invalid++
			}
			_, ok = s.char(r)
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
		s.any, s.gap = true, false
		if r < utf8.RuneSelf {
			dst[chars] = s.ascii[r]
			chars++
			continue
		}
		var buf [3 * utf8.UTFMax]byte
		for form := s.props.append(buf[:0], r); len(form) > 0; form = form[size:] {
			_, size = utf8.DecodeRune(form)
			dst[chars] = s.h.Word(form[:size])
			chars++
		}
	}
	return chars, read
}

// finish ends the text. There is nothing left to store.
func (s *gramScanner) finish(*[segmentWords]uint64) int { return 0 }
