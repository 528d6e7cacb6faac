package records

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// asciiNames are charsets of texts that name none: those with other characters are in another one.
var asciiNames = []string{"", "us-ascii", "ascii", "ansi_x3.4-1968", "unknown-8bit", "x-unknown"}

// Decode returns a text of this charset, such as that of a part of a mail. If it names none, or one
// that is not known, the text is in UTF-8, or else in the encoding otherwise. It reports whether
// bytes were no characters, and whether it had to guess, as a charset is not known.
func Decode(text []byte, name string, otherwise Encoding) (s string, bad, guessed bool) {
	e := charset(name)
	switch name = strings.ToLower(name); {
	case name == "utf-7":
		text, e = shiftedUTF7.ReplaceAllFunc(text, decodeUTF7), unicode.UTF8
	case e == nil || slices.Contains(asciiNames, name):
		e = unicode.UTF8
		if !utf8.Valid(text) && otherwise != UTF8 {
			e = charset(string(otherwise))
		}
		guessed = !slices.Contains(asciiNames, name) && otherwise == UTF8 && slices.ContainsFunc(text, func(b byte) bool { return b >= utf8.RuneSelf })
	}
	if e == unicode.UTF8 {
		return strings.TrimPrefix(ValidText(string(text)), bom), !utf8.Valid(text), guessed
	}
	decoded, _ := e.NewDecoder().Bytes(text) // what is no character is U+FFFD, and no error
	return strings.TrimPrefix(string(decoded), bom), bytes.ContainsRune(decoded, utf8.RuneError), guessed
}

// shiftedUTF7 is a part of a text in UTF-7 that is UTF-16 in base64.
var shiftedUTF7 = regexp.MustCompile(`\+[A-Za-z0-9+/]*-?`)

// decodeUTF7 decodes such a part. One that is damaged stays.
func decodeUTF7(part []byte) []byte {
	code := bytes.TrimSuffix(part[1:], []byte("-"))
	units, err := base64.RawStdEncoding.DecodeString(string(code))
	switch {
	case len(code) == 0:
		return []byte("+")
	case err != nil:
		return part
	}
	text, _ := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Bytes(units[:len(units)&^1])
	return text
}
