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

// asciiNames are the declared charsets that say nothing about bytes outside ASCII. A text that has
// such bytes is really in another charset.
var asciiNames = []string{"", "us-ascii", "ascii", "ansi_x3.4-1968", "unknown-8bit", "x-unknown"}

// Decode decodes a text, such as a part of a mail, from the charset that its header names. If name
// is empty, ASCII or unknown, Decode tries UTF-8 and then the encoding otherwise. bad reports
// whether some bytes were not characters; guessed reports whether the charset was unknown and the
// text has bytes outside ASCII.
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
	decoded, _ := e.NewDecoder().Bytes(text) // invalid bytes become U+FFFD without an error
	return strings.TrimPrefix(string(decoded), bom), bytes.ContainsRune(decoded, utf8.RuneError), guessed
}

// shiftedUTF7 matches the parts of a UTF-7 text that are UTF-16 in base64.
var shiftedUTF7 = regexp.MustCompile(`\+[A-Za-z0-9+/]*-?`)

// decodeUTF7 decodes a part that shiftedUTF7 matches. It returns a damaged part unchanged.
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
