package records

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding is how the characters of an input are written: the name of a charset in lower case.
type Encoding string

// The encodings that are recognised. All but UTF-8 are decoded before a format reads the input, and
// a copy of its records is encoded again. Both directions lose nothing, so that a copy has the
// bytes of the input.
const (
	UTF8    Encoding = "" // or UTF-16 with a byte order mark, which is recognised
	UTF16LE Encoding = "utf-16le"
	UTF16BE Encoding = "utf-16be"
)

// UnmarshalText parses the name of an encoding.
func (e *Encoding) UnmarshalText(text []byte) error {
	switch name := Encoding(strings.ToLower(string(text))); {
	case name == UTF8, name == "utf-8", name == "utf8":
		*e = UTF8
	case name == "utf-16", name == "utf16":
		return fmt.Errorf("%q: a file with a byte order mark needs none, one without it utf-16le (little-endian, as Windows writes it) or utf-16be", text)
	case charset(string(name)) == nil:
		return fmt.Errorf("unknown encoding %q: a name that IANA has, such as latin1, windows-1251, shift_jis, gb18030 or utf-16le; iconv may know others", text)
	default:
		*e = name
	}
	return nil
}

// decoder returns what decodes to UTF-8.
func (e Encoding) decoder() transform.Transformer {
	table := charset(string(e))
	d := decoder{table.NewDecoder(), table.NewEncoder()}
	if table == japanese.ISO2022JP || table == simplifiedchinese.HZGB2312 {
		return &shifted{decoder: d, name: e}
	}
	return d
}

// encoder returns what encodes UTF-8.
func (e Encoding) encoder() transform.Transformer {
	return encoder{encoding.ReplaceUnsupported(charset(string(e)).NewEncoder())}
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

// A byte that is no character, or is part of one that would be encoded as other bytes, is decoded
// to what would be the surrogate U+DC00 + byte: three bytes that are invalid in UTF-8, so that
// formats count it as such, and the encoder makes the byte of them again.
const (
	escapeSize = 3
	longest    = 4 // bytes of a character in any encoding
)

// isEscape reports whether p begins with the escape of a byte.
func isEscape(p []byte) bool {
	return len(p) >= escapeSize && p[0] == 0xed && p[1]&^3 == 0xb0 && p[2]&0xc0 == 0x80
}

// decoder decodes an encoding whose characters do not depend on those before them.
type decoder struct {
	from *encoding.Decoder
	back *encoding.Encoder
}

// Reset does nothing: there is no state.
func (d decoder) Reset() {}

// Transform decodes src: at once if it has nothing to escape.
func (d decoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = d.from.Transform(dst, src, atEOF)
	if again, e := d.back.Bytes(dst[:nDst]); e == nil && bytes.Equal(again, src[:nSrc]) {
		return nDst, nSrc, err
	}
	for nDst, nSrc = 0, 0; nSrc < len(src); {
		if len(dst)-nDst < longest*escapeSize {
			return nDst, nSrc, transform.ErrShortDst
		}
		n, size := d.character(dst[nDst:], src[nSrc:])
		switch again, e := d.back.Bytes(dst[nDst : nDst+n]); {
		case size == 0 && !atEOF && len(src)-nSrc < longest:
			return nDst, nSrc, transform.ErrShortSrc
		case size > 0 && e == nil && bytes.Equal(again, src[nSrc:nSrc+size]):
			nDst += n
		default:
			size = max(size, 1)
			for _, b := range src[nSrc : nSrc+size] {
				nDst += copy(dst[nDst:], []byte{0xed, 0xb0 | b>>6, 0x80 | b&0x3f})
			}
		}
		nSrc += size
	}
	return nDst, nSrc, nil
}

// character decodes the first character of src; size is 0 if there is no whole one.
func (d decoder) character(dst, src []byte) (n, size int) {
	for end := 1; end <= min(longest, len(src)) && size == 0; end++ {
		n, size, _ = d.from.Transform(dst, src[:end], false)
	}
	return n, size
}

// shifted decodes an encoding in which escape sequences say what the bytes after them mean. What is
// not written as the encoder writes it is an error.
type shifted struct {
	decoder
	name    Encoding
	pending []byte // that was decoded, and is not yet encoded again
	err     error
}

// Transform decodes src.
func (s *shifted) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if s.err != nil {
		return 0, 0, s.err
	}
	nDst, nSrc, err = s.from.Transform(dst, src, atEOF)
	s.pending = append(s.pending, src[:nSrc]...)
	again := make([]byte, longest*(nDst+1))
	n, _, e := s.back.Transform(again, dst[:nDst], false)
	rest, same := bytes.CutPrefix(s.pending, again[:n])
	if s.pending = rest; e != nil || !same {
		s.err = fmt.Errorf("its characters are not written as %s has them: iconv -f %s -t utf-8 makes UTF-8 of them", s.name, s.name)
		return 0, 0, s.err
	}
	return nDst, nSrc, err
}

// encoder is the inverse of a decoder. A character that the encoding does not have, which no
// decoder makes, becomes a question mark, or what the encoding has for that.
type encoder struct{ to *encoding.Encoder }

// Reset does nothing: an encoder is used once.
func (e encoder) Reset() {}

// Transform encodes src.
func (e encoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest, end := src[nSrc:], 0
		for end < len(rest) && !isEscape(rest[end:]) {
			if rest[end] == 0xed && len(rest)-end < escapeSize && !atEOF {
				break
			}
			_, size := utf8.DecodeRune(rest[end:])
			end += size
		}
		switch {
		case end > 0:
			n, size, err := e.to.Transform(dst[nDst:], rest[:end], atEOF && end == len(rest))
			if nDst, nSrc = nDst+n, nSrc+size; err != nil {
				return nDst, nSrc, err
			}
		case !isEscape(rest):
			return nDst, nSrc, transform.ErrShortSrc
		case nDst == len(dst):
			return nDst, nSrc, transform.ErrShortDst
		default:
			dst[nDst] = rest[1]<<6 | rest[2]&0x3f
			nDst, nSrc = nDst+1, nSrc+escapeSize
		}
	}
	return nDst, nSrc, nil
}

// charsetAliases are names that neither IANA nor browsers have.
var charsetAliases = map[string]string{
	"cp932": "shift_jis", "ms932": "shift_jis", "cp936": "gbk", "euc-cn": "gbk", "cp949": "euc-kr", "uhc": "euc-kr", "cp950": "big5",
	"cp874": "windows-874", "tis620": "tis-620", "mac-roman": "macintosh", "utf16": "utf-16", "utf-16-le": "utf-16le",
}

// charset returns the encoding of a name: as browsers have it, otherwise as IANA has it, nil if it
// is not known.
func charset(name string) encoding.Encoding {
	name = strings.ToLower(strings.Trim(name, " \t'\""))
	if name = cmp.Or(charsetAliases[name], name); name == "utf-16" {
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	for _, find := range []func(string) (encoding.Encoding, error){htmlindex.Get, ianaindex.MIME.Encoding, ianaindex.IANA.Encoding} {
		if e, err := find(name); err == nil && e != nil && e != encoding.Replacement {
			return e
		}
	}
	return nil
}
