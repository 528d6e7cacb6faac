package jsontext

import (
	"encoding/base64"
	"math/big"
	"strings"
	"unicode/utf8"
)

// ValidText returns s with every invalid byte replaced by U+FFFD, as JSON decoders do.
func ValidText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// AppendString appends s as a JSON string; invalid UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	b, s = append(b, '"'), ValidText(s)
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// AppendBytes appends a JSON string; bytes that are not UTF-8 are encoded in base64.
func AppendBytes(b, p []byte) []byte {
	if utf8.Valid(p) {
		return AppendString(b, string(p))
	}
	b = base64.StdEncoding.AppendEncode(append(b, '"'), p)
	return append(b, '"')
}

// AppendDecimal appends n / 10^scale with all its digits; scale is at least 0.
func AppendDecimal(b []byte, n *big.Int, scale int) []byte {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return append(b, new(big.Rat).SetFrac(n, unit).FloatString(scale)...)
}
