package features

import (
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer brings texts into a normal form. Text that is ASCII is in all of them.
type normalizer struct {
	none   bool
	form   norm.Form // of the result
	open   norm.Form // decomposed, where diacritics are removed
	nfkc   bool
	strip  bool
	buffer [2][]byte
}

func newNormalizer(s Spec) normalizer {
	n := normalizer{
		none: s.Normalize == "" && !s.StripDiacritics,
		form: norm.NFC, open: norm.NFD,
		nfkc: s.Normalize == NFKC, strip: s.StripDiacritics,
	}
	if n.nfkc {
		n.form, n.open = norm.NFKC, norm.NFKD
	}
	return n
}

// Normalizer returns a function for one goroutine that brings texts into the normal form of s, or
// nil if texts stay as they are. What it returns is valid until the next call.
func (s Spec) Normalizer() func(text []byte) []byte {
	n := newNormalizer(s)
	if n.none {
		return nil
	}
	return n.text
}

// text returns the normal form of text, which is text itself or valid until the next call. Bytes
// that are not UTF-8 stay as they are.
func (n *normalizer) text(text []byte) []byte {
	if n.none || isASCII(text) {
		return text
	}
	if n.nfkc {
		n.buffer[0] = appendWithout(n.buffer[0][:0], text, isInvisible)
		text = n.buffer[0]
	}
	if n.strip {
		n.buffer[1] = n.open.Append(n.buffer[1][:0], text...)
		n.buffer[0] = appendWithout(n.buffer[0][:0], n.buffer[1], isDiacritic)
		text = n.buffer[0]
	}
	if n.form.IsNormal(text) {
		return text
	}
	n.buffer[1] = n.form.Append(n.buffer[1][:0], text...)
	return n.buffer[1]
}

// appendWithout appends text without the runes that drop reports.
func appendWithout(dst, text []byte, drop func(rune) bool) []byte {
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			dst = append(dst, text[0])
			text = text[1:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		if size == 1 || !drop(r) {
			dst = append(dst, text[:size]...)
		}
		text = text[size:]
	}
	return dst
}

// isInvisible reports the characters that show where a word may be broken or joined, and that
// texts of equal appearance differ by: the soft hyphen, those of no width, and the byte order mark.
func isInvisible(r rune) bool {
	switch r {
	case 0x00ad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff:
		return true
	}
	return false
}

// isDiacritic reports the marks of the blocks of combining diacritical marks, which letters of
// Latin, Greek, Cyrillic and other alphabets have. Marks that are vowels, as in the scripts of
// India, are in the blocks of their scripts.
func isDiacritic(r rune) bool {
	return r >= 0x0300 && r <= 0x036f || r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff || r >= 0x20d0 && r <= 0x20ff
}

// isASCII reports whether text has only bytes of ASCII.
func isASCII(text []byte) bool {
	const highs = 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		if binary.LittleEndian.Uint64(text)&highs != 0 {
			return false
		}
	}
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
