package units

import (
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/token"
)

// hasher hashes units for comparison. It is not safe for concurrent use.
type hasher struct {
	least     int // words that a unit needs to be compared
	rules     token.Rules
	normalize func([]byte) []byte // converts a text to a normal form; nil: no conversion
	buf       []byte
}

// hash returns the 128-bit XXH3 of a unit, and false if it has too few words. It ignores case,
// and treats each run of white space as one space.
func (h *hasher) hash(unit string) (sum xxh3.Uint128, enough bool) {
	text := unsafe.Slice(unsafe.StringData(unit), len(unit)) // the bytes are only read
	if h.normalize != nil {
		text = h.normalize(text)
	}
	if h.least > 0 && h.rules.Count(text, h.least) < h.least {
		return sum, false
	}
	h.buf = appendPlain(h.buf[:0], text)
	return xxh3.Hash128(h.buf), true
}

// appendPlain appends text with folded case, with one space for each inner run of white space, and
// without white space at either end.
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
			dst = token.Rules{}.AppendFolded(dst, text[i:i+size])
		case c >= 'A' && c <= 'Z':
			dst = append(dst, byte(c)+'a'-'A')
		default:
			dst = append(dst, text[i:i+size]...)
		}
		i += size
	}
	return dst
}
