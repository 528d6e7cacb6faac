package jsontext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// CheckString returns the index after the string that should begin at s[i], or -1 if there is none,
// and whether the string has an escape.
func CheckString(s []byte, i int) (end int, escaped bool) {
	if i >= len(s) || s[i] != '"' {
		return -1, false
	}
	for i++; ; {
		if i = PlainEnd(s, i); i >= len(s) || s[i] < ' ' {
			return -1, false
		}
		if s[i] == '"' {
			return i + 1, escaped
		}
		if escaped = true; i+1 >= len(s) {
			return -1, false
		}
		switch c := s[i+1]; {
		case c == 'u':
			if !isHex4(s[i+2:]) {
				return -1, false
			}
			i += 6
		case Escapes[c] != 0:
			i += 2
		default:
			return -1, false
		}
	}
}

// PlainEnd returns the index of the first quote, backslash or control character from s[i] on, or
// the length of s if there is none.
func PlainEnd(s []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		x := binary.LittleEndian.Uint64(s[i:])
		quote, back := x^'"'*ones, x^'\\'*ones
		// The lowest set bit is correct, because only a byte that was found borrows from the next
		// one.
		if found := ((quote-ones)&^quote | (back-ones)&^back | (x-' '*ones)&^x) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] >= ' ' {
		i++
	}
	return i
}

// Escapes maps the character of an escape to its meaning; other characters, and u, map to 0.
var Escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// isHex4 reports whether s begins with four hexadecimal digits.
func isHex4(s []byte) bool {
	if len(s) < 4 {
		return false
	}
	for _, c := range s[:4] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// Unquote decodes a valid JSON string in UTF-8. Like encoding/json, it replaces half of a surrogate
// pair by U+FFFD.
func Unquote(quoted []byte) string {
	rest := quoted[1 : len(quoted)-1]
	i := bytes.IndexByte(rest, '\\')
	if i < 0 {
		return string(rest)
	}
	b := make([]byte, 0, len(rest))
	for i >= 0 {
		b = append(b, rest[:i]...)
		if rest = rest[i:]; rest[1] == 'u' {
			b, rest = appendUnicode(b, rest)
		} else {
			b, rest = append(b, Escapes[rest[1]]), rest[2:]
		}
		if i = 0; len(rest) == 0 || rest[0] != '\\' { // escapes often follow each other
			i = bytes.IndexByte(rest, '\\')
		}
	}
	b = append(b, rest...)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// appendUnicode appends the character that the \uXXXX at the beginning of rest encodes, and returns
// what follows.
func appendUnicode(b, rest []byte) (_, after []byte) {
	r := Hex4(rest)
	if rest = rest[6:]; utf16.IsSurrogate(r) {
		if r = utf16.DecodeRune(r, Hex4(rest)); r != utf8.RuneError {
			rest = rest[6:]
		}
	}
	return utf8.AppendRune(b, r), rest
}

// Hex4 returns the number in an escape such as \u00e9 at the beginning of s, or -1 if there is
// none.
func Hex4(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		}
		r = r<<4 | rune(c&15)
	}
	return r
}

// SkipBlank returns the index after the white space at s[i].
func SkipBlank(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// SkipString returns the index after the string that begins at s[i].
func SkipString(s []byte, i int) int {
	for i++; i < len(s); {
		j := bytes.IndexByte(s[i:], '"')
		if j < 0 {
			return len(s)
		}
		i += j
		back := i - 1
		for s[back] == '\\' {
			back--
		}
		i++
		if (i-back)%2 == 0 { // preceded by an even number of backslashes
			return i
		}
	}
	return len(s)
}

// SkipValue returns the index after the value that begins at s[i].
func SkipValue(s []byte, i int) int {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = SkipString(s, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(s)
}
