package units

import (
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/token"
)

// hasher computes what units are compared by. It serves one goroutine.
type hasher struct {
	least     int                 // words of a unit that is compared
	symbols   bool                // runs of symbols are words
	normalize func([]byte) []byte // brings a text into a normal form; nil: as it is
	buf       []byte
}

// hash returns the XXH3 of a unit, 128 bits, and false if it has too few words. White space and
// case make no difference: each run of white space is one space.
func (h *hasher) hash(unit string) (sum xxh3.Uint128, enough bool) {
	text := unsafe.Slice(unsafe.StringData(unit), len(unit)) // only read
	if h.normalize != nil {
		text = h.normalize(text)
	}
	if h.least > 0 && token.Count(text, h.symbols, h.least) < h.least {
		return sum, false
	}
	h.buf = appendPlain(h.buf[:0], text)
	return xxh3.Hash128(h.buf), true
}

// appendPlain appends text in lower case, with one space for each run of white space within it and
// none around it.
func appendPlain(dst, text []byte) []byte {
	space := false
	for i := 0; i < len(text); {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(text[i:])
		}
		switch {
		case unicode.IsSpace(c):
			space = len(dst) > 0
			i += size
			continue
		case space:
			dst, space = append(dst, ' '), false
		}
		switch {
		case c >= utf8.RuneSelf && c != utf8.RuneError:
			dst = utf8.AppendRune(dst, unicode.ToLower(c))
		case c >= 'A' && c <= 'Z':
			dst = append(dst, byte(c)+'a'-'A')
		default:
			dst = append(dst, text[i:i+size]...)
		}
		i += size
	}
	return dst
}
