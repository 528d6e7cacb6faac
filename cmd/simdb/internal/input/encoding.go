package input

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// Encoding is how the characters of an input are written.
type Encoding string

// The encodings. All but UTF-8 are decoded before a format reads the input, and a copy of its
// records is encoded again. Both directions lose nothing, so that a copy has the bytes of the
// input.
const (
	UTF8        Encoding = "" // or UTF-16 with a byte order mark, which is recognised
	Latin1      Encoding = "latin1"
	Windows1252 Encoding = "windows-1252"
	UTF16LE     Encoding = "utf-16le"
	UTF16BE     Encoding = "utf-16be"
)

// UnmarshalText parses the name of an encoding.
func (e *Encoding) UnmarshalText(text []byte) error {
	switch name := Encoding(strings.ToLower(string(text))); name {
	case UTF8, Latin1, Windows1252, UTF16LE, UTF16BE:
		*e = name
	case "utf-8", "utf8":
		*e = UTF8
	case "iso-8859-1":
		*e = Latin1
	case "utf-16", "utf16":
		return fmt.Errorf("%q: a file with a byte order mark needs no flag, one without it utf-16le (little-endian, as Windows writes it) or utf-16be", text)
	default:
		return fmt.Errorf("unknown encoding %q: utf-8, latin1, windows-1252, utf-16le or utf-16be", text)
	}
	return nil
}

// decoder returns what decodes to UTF-8.
func (e Encoding) decoder() transform.Transformer {
	switch e {
	case Latin1:
		return byteDecoder{charmap.ISO8859_1}
	case Windows1252:
		return byteDecoder{charmap.Windows1252}
	}
	return utf16Decoder{big: e == UTF16BE}
}

// encoder returns what encodes UTF-8.
func (e Encoding) encoder() transform.Transformer {
	switch e {
	case Latin1:
		return byteEncoder{charmap.ISO8859_1}
	case Windows1252:
		return byteEncoder{charmap.Windows1252}
	}
	return utf16Encoder{big: e == UTF16BE}
}

// encodingOf returns the encoding that a byte order mark at the beginning of an input shows.
func encodingOf(head string) Encoding {
	switch {
	case strings.HasPrefix(head, "\xff\xfe\x00\x00"): // UTF-32
	case strings.HasPrefix(head, "\xff\xfe"):
		return UTF16LE
	case strings.HasPrefix(head, "\xfe\xff"):
		return UTF16BE
	}
	return UTF8
}

// bom is the byte order mark in UTF-8.
const bom = "\ufeff"

// byteDecoder decodes an encoding of a byte per character. A byte that is no character becomes the
// control character of its value, as browsers have it, so that it can be encoded again.
type byteDecoder struct{ table *charmap.Charmap }

// Reset does nothing: there is no state.
func (d byteDecoder) Reset() {}

// Transform decodes src.
func (d byteDecoder) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for ; nSrc < len(src); nSrc++ {
		if len(dst)-nDst < utf8.UTFMax {
			return nDst, nSrc, transform.ErrShortDst
		}
		r := d.table.DecodeByte(src[nSrc])
		if r == utf8.RuneError {
			r = rune(src[nSrc])
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
	}
	return nDst, nSrc, nil
}

// byteEncoder is the inverse of byteDecoder. A character that the encoding does not have, which no
// byteDecoder makes, becomes a question mark.
type byteEncoder struct{ table *charmap.Charmap }

// Reset does nothing: there is no state.
func (e byteEncoder) Reset() {}

// Transform encodes src.
func (e byteEncoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		if !atEOF && !utf8.FullRune(src[nSrc:]) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		if nDst == len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		r, size := utf8.DecodeRune(src[nSrc:])
		b, ok := e.table.EncodeRune(r)
		switch {
		case ok:
		case r < 0x100:
			b = byte(r)
		default:
			b = '?'
		}
		dst[nDst] = b
		nDst, nSrc = nDst+1, nSrc+size
	}
	return nDst, nSrc, nil
}

// utf16Decoder decodes UTF-16. A surrogate without its other half becomes the three bytes that
// UTF-8 would have for it, which are invalid there, so that it can be encoded again.
type utf16Decoder struct{ big bool }

var errOddUTF16 = errors.New("it ends within a character of UTF-16")

// Reset does nothing: there is no state.
func (d utf16Decoder) Reset() {}

// Transform decodes src.
func (d utf16Decoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest := src[nSrc:]
		if len(rest) < 2 || len(rest) < 4 && !atEOF && utf16.IsSurrogate(d.unit(rest)) {
			if atEOF {
				return nDst, nSrc, errOddUTF16
			}
			return nDst, nSrc, transform.ErrShortSrc
		}
		if len(dst)-nDst < utf8.UTFMax {
			return nDst, nSrc, transform.ErrShortDst
		}
		r, size := d.unit(rest), 2
		if len(rest) >= 4 && utf16.IsSurrogate(r) {
			if both := utf16.DecodeRune(r, d.unit(rest[2:])); both != utf8.RuneError {
				r, size = both, 4
			}
		}
		nSrc += size
		if utf16.IsSurrogate(r) {
			nDst += copy(dst[nDst:], []byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f})
		} else {
			nDst += utf8.EncodeRune(dst[nDst:], r)
		}
	}
	return nDst, nSrc, nil
}

// unit is the first two bytes of p.
func (d utf16Decoder) unit(p []byte) rune {
	if d.big {
		return rune(p[0])<<8 | rune(p[1])
	}
	return rune(p[1])<<8 | rune(p[0])
}

// utf16Encoder is the inverse of utf16Decoder.
type utf16Encoder struct{ big bool }

// Reset does nothing: there is no state.
func (e utf16Encoder) Reset() {}

// Transform encodes src.
func (e utf16Encoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest := src[nSrc:]
		if !atEOF && (!utf8.FullRune(rest) || rest[0] == 0xed && len(rest) < 3) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		if len(dst)-nDst < 4 {
			return nDst, nSrc, transform.ErrShortDst
		}
		r, size := utf8.DecodeRune(rest)
		if size == 1 && len(rest) >= 3 && rest[0] == 0xed && rest[1] >= 0xa0 { // see utf16Decoder
			r, size = 0xd000|rune(rest[1]&0x3f)<<6|rune(rest[2]&0x3f), 3
		}
		nSrc += size
		units := [2]rune{r}
		n := 1
		if r >= 0x10000 {
			units[0], units[1] = utf16.EncodeRune(r)
			n = 2
		}
		for _, u := range units[:n] {
			high, low := byte(u>>8), byte(u)
			if !e.big {
				high, low = low, high
			}
			dst[nDst], dst[nDst+1] = high, low
			nDst += 2
		}
	}
	return nDst, nSrc, nil
}
