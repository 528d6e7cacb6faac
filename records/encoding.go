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

// Encoding is the character encoding of an input: the name of a charset in lower case.
type Encoding string

// Encodings that are recognised by a byte order mark. An input in any encoding but UTF-8 is decoded
// before a format reads it, and copies of its records are encoded again. Both conversions are
// lossless, so a copy has the bytes of the input.
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
		return fmt.Errorf("%q: leave this out for a file with a byte order mark; without one, use utf-16le (little-endian, as on Windows) or utf-16be", text)
	case charset(string(name)) == nil:
		return fmt.Errorf("unknown encoding %q: use an IANA name, such as latin1, windows-1251, shift_jis, gb18030 or utf-16le; iconv may convert others", text)
	default:
		*e = name
	}
	return nil
}

// decoder returns a transformer from e to UTF-8.
func (e Encoding) decoder() transform.Transformer {
	table := charset(string(e))
	d := decoder{table.NewDecoder(), table.NewEncoder()}
	if table == japanese.ISO2022JP || table == simplifiedchinese.HZGB2312 {
		return &shifted{decoder: d, name: e}
	}
	return d
}

// encoder returns a transformer from UTF-8 to e.
func (e Encoding) encoder() transform.Transformer {
	return encoder{encoding.ReplaceUnsupported(charset(string(e)).NewEncoder())}
}

// encodingOf returns the encoding whose byte order mark head begins with, or UTF8.
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

// A byte is escaped if it is not a character, or if its character would be encoded as other bytes.
// It is decoded to the three bytes that UTF-8 would use for the surrogate U+DC00 + byte. They are
// invalid UTF-8, so formats report them as such, and the encoder turns them back into the byte.
const (
	escapeSize = 3
	longest    = 4 // bytes of a character in any encoding
)

// isEscape reports whether p begins with an escaped byte.
func isEscape(p []byte) bool {
	return len(p) >= escapeSize && p[0] == 0xed && p[1]&^3 == 0xb0 && p[2]&0xc0 == 0x80
}

// decoder decodes a stateless encoding.
type decoder struct {
	from *encoding.Decoder
	back *encoding.Encoder
}

// Reset does nothing: there is no state.
func (d decoder) Reset() {}

// Transform decodes src in one call of the charset's decoder, or character by character if some
// bytes must be escaped.
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

// character decodes the first character of src; size is 0 if src has no complete character.
func (d decoder) character(dst, src []byte) (n, size int) {
	for end := 1; end <= min(longest, len(src)) && size == 0; end++ {
		n, size, _ = d.from.Transform(dst, src[:end], false)
	}
	return n, size
}

// shifted decodes an encoding in which escape sequences switch between character sets. Content that
// the encoder would write differently is an error, because copies would not be exact.
type shifted struct {
	decoder
	name    Encoding
	pending []byte // decoded, but not yet compared with its re-encoding
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
		s.err = fmt.Errorf("it cannot be copied byte for byte as %s: iconv -f %s -t utf-8 converts it to UTF-8", s.name, s.name)
		return 0, 0, s.err
	}
	return nDst, nSrc, err
}

// encoder is the inverse of a decoder. A character that the encoding lacks, which no decoder
// produces, becomes a question mark or the replacement character of the encoding.
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

// charsetAliases are names that neither IANA nor browsers define.
var charsetAliases = map[string]string{
	"cp932": "shift_jis", "ms932": "shift_jis", "cp936": "gbk", "euc-cn": "gbk", "cp949": "euc-kr", "uhc": "euc-kr", "cp950": "big5",
	"cp874": "windows-874", "tis620": "tis-620", "mac-roman": "macintosh", "utf16": "utf-16", "utf-16-le": "utf-16le",
}

// charset returns the encoding that browsers use for a name, else the one that IANA registers, or
// nil if the name is unknown.
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
