package token

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// asciiLower[b] is the lower-case form of the ASCII byte b if it belongs to words, else 0.
var asciiLower = func() (t [utf8.RuneSelf]byte) {
	for b := range t {
		if class, lower := version3.of(rune(b)); class != classOther {
			t[b] = byte(lower)
		}
	}
	return t
}()

// lookahead is the number of ASCII bytes that must follow a word before the scanner switches back
// to the ASCII path, so that text with a non-ASCII letter in every other word does not alternate at
// each word.
const lookahead = 16

// highs has the bits that are set in bytes outside ASCII.
const highs = 0x8080808080808080

// slow is the Unicode path. It reads runes of text, and stores the hashes of words that end in dst.
// It stops when the ASCII path can continue, when it has read about limit bytes, or, if text is not
// final, before a rune that may be cut off at the end. It returns the numbers of words stored and
// bytes read. At the end of a final text, the caller must end the open word. dst must have space
// for limit/2+1 words, or limit+1 with symbols.
func (s *scanner) slow(dst []uint64, text []byte, limit int, final bool) (words, read int) {
	i, n := 0, 0
	limit = min(limit, len(text))
	for i < limit {
		b := text[i]
		if b < utf8.RuneSelf && (!s.symbols || asciiLower[b] != 0 || b == ' ') {
			i++
			lower := asciiLower[b]
			if lower != 0 && s.open.kind == openRun {
				s.open.add(s.h, uint64(lower), 1)
				continue
			}
			if s.open.kind != openNone {
				dst[n] = s.endWord()
				n++
			}
			if lower != 0 {
				s.open.begin(s.h, openRun)
				s.open.add(s.h, uint64(lower), 1)
			} else if !s.symbols && isASCII(text[i:]) {
				return n, i
			}
			continue
		}
		if !final && !utf8.FullRune(text[i:]) {
			break
		}
		r, raw, size := decode(text[i:])
		i += size
		if r == utf8.RuneError && size == 1 {
			s.invalid++
			size = utf8.RuneLen(r)
		}
		class, lower := s.props.of(r)
		if class == classOther && s.symbols && !unicode.IsSpace(r) {
			class = classSymbol
		}
		if s.open.kind.ends(class) {
			dst[n] = s.endWord()
			n++
		}
		if class == classOther {
			continue
		}
		if s.open.kind == openNone {
			s.open.begin(s.h, openKinds[class])
		}
		if lower > unicode.MaxRune {
			s.open.addText(s.h, longer[r])
			continue
		}
		if lower != r {
			raw, size = encode(lower)
		}
		s.open.add(s.h, uint64(raw), size)
	}
	return n, i
}

// decode decodes the first rune of text, which is not empty, like utf8.DecodeRune. It also returns
// the rune's bytes, the first one lowest.
func decode(text []byte) (r rune, raw uint32, size int) {
	if len(text) >= 4 {
		raw = binary.LittleEndian.Uint32(text)
		switch {
		case raw&0xc0e0 == 0x80c0: // 110xxxxx 10xxxxxx
			r = rune(raw&0x1f<<6 | raw>>8&0x3f)
			if r >= 0x80 {
				return r, raw & 0xffff, 2
			}
		case raw&0xc0c0f0 == 0x8080e0: // 1110xxxx 10xxxxxx 10xxxxxx
			r = rune(raw&0x0f<<12 | raw>>8&0x3f<<6 | raw>>16&0x3f)
			if r >= 0x800 && r&^0x7ff != 0xd800 { // not overlong, not a surrogate
				return r, raw & 0xffffff, 3
			}
		}
	}
	r, size = utf8.DecodeRune(text)
	raw, _ = encode(r)
	return r, raw, size
}

// encode returns the UTF-8 bytes of r, the first one lowest.
func encode(r rune) (raw uint32, size int) {
	var b [utf8.UTFMax]byte
	size = utf8.EncodeRune(b[:], r)
	return binary.LittleEndian.Uint32(b[:]), size
}

// isASCII reports whether text starts with lookahead ASCII bytes, or is shorter and has only ASCII.
func isASCII(text []byte) bool {
	if len(text) >= lookahead {
		return (binary.LittleEndian.Uint64(text)|binary.LittleEndian.Uint64(text[8:]))&highs == 0
	}
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
