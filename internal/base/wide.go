package base

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxWords is the largest number of words, of FingerprintBits bits each, of a fingerprint.
const MaxWords = 16

// DistanceWords returns the Hamming distance between two fingerprints with the same number of
// words. It panics if b is shorter.
func DistanceWords(a, b []Fingerprint) (d int) {
	b = b[:len(a)]
	for i, x := range a {
		d += Distance(x, b[i])
	}
	return d
}

// AppendHexWords appends a fingerprint of several words in the standard notation: AppendHex of each
// word. ParseWords can read it.
func AppendHexWords(dst []byte, words []Fingerprint) []byte {
	for _, w := range words {
		dst = AppendHex(dst, w)
	}
	return dst
}

// ParseWords is ParseFingerprint for a fingerprint of len(dst) words. After an error, the contents
// of dst are undefined.
func ParseWords[S ~string | ~[]byte](dst []Fingerprint, s S, n Notation) (as Notation, err error) {
	if len(dst) == 1 {
		dst[0], as, err = ParseFingerprint(s, n)
		return as, err
	}
	width := len(dst) * FingerprintBits
	if n == Decimal {
		return n, fmt.Errorf("not a fingerprint: write fingerprints of %d bits in hexadecimal, not in decimal", width)
	}
	if as, err = parseExact(dst, s, n); as != Auto {
		return as, err
	}
	digits := s
	if hasPrefix(s) {
		digits = s[2:]
	}
	if _, ok := hex(digits); !ok || len(digits) == 0 {
		return Hex, fmt.Errorf("not a fingerprint: %q is not %d hexadecimal digits", short(s), width/4)
	}
	if len(digits) != width/4 {
		return Hex, fmt.Errorf("the fingerprint has %d hexadecimal digits; %d bits have %d", len(digits), width, width/4)
	}
	for i := range dst {
		dst[i], _ = hex(digits[i*FingerprintDigits : (i+1)*FingerprintDigits])
	}
	return Hex, nil
}

// parseExact reads the notations whose number of letters does not depend on the value: Base64 if n
// is Base64, and Binary if n is Binary or Auto. It returns Auto if the text may be in another
// notation.
func parseExact[S ~string | ~[]byte](dst []Fingerprint, s S, n Notation) (Notation, error) {
	switch {
	case n == Base64:
		return Base64, parseBase64(dst, s)
	case n != Binary && (n != Auto || len(s) < len(dst)*FingerprintBits):
		return Auto, nil
	case parseBinary(dst, strings.TrimPrefix(string(s), "0b")):
		return Binary, nil
	case n == Binary:
		return Binary, fmt.Errorf("not a fingerprint: %q is not %d binary digits", short(s), len(dst)*FingerprintBits)
	}
	return Auto, nil
}

// parseBinary reads FingerprintBits binary digits per word.
func parseBinary(dst []Fingerprint, digits string) bool {
	if len(digits) != len(dst)*FingerprintBits {
		return false
	}
	for i := range dst {
		v, err := strconv.ParseUint(digits[i*FingerprintBits:(i+1)*FingerprintBits], 2, FingerprintBits)
		if err != nil {
			return false
		}
		dst[i] = v
	}
	return true
}

// parseBase64 reads FingerprintBytes bytes per word in base64, with full padding or none. Unused
// bits of the last letter must be zero, so that each fingerprint has only one notation.
func parseBase64[S ~string | ~[]byte](dst []Fingerprint, s S) error {
	n := (len(dst)*FingerprintBits + 5) / 6
	ok := len(s) == n || len(s) == (n+3)/4*4
	for i := n; i < len(s); i++ {
		ok = ok && s[i] == '='
	}
	if !ok {
		return fmt.Errorf("not a fingerprint: %q is not %d letters of base64", short(s), n)
	}
	all, v, have, word := uint8(0), uint64(0), 0, 0 // v has the known bits of the next word
	for i := range n {
		d := base64Values[s[i]]
		all |= d
		if have += 6; have < FingerprintBits {
			v = v<<6 | uint64(d)
			continue
		}
		have -= FingerprintBits
		dst[word] = v<<(6-have) | uint64(d>>have)
		v, word = uint64(d)&(1<<have-1), word+1
	}
	if all > 63 || v != 0 {
		return fmt.Errorf("not a fingerprint: %q is not the base64 of %d bytes", short(s), len(dst)*FingerprintBytes)
	}
	return nil
}

// WidthOf returns the number of bits of a fingerprint of several words, from the length of its
// text. The text has hexadecimal digits, with or without 0x, or binary digits, with or without 0b.
// ok is false for all other texts, including 64-bit fingerprints. Digits that are all 0 or 1 are
// ambiguous. They are read as binary if possible, so that the width of a list is the largest width
// of its texts.
func WidthOf[S ~string | ~[]byte](s S) (bits int, ok bool) {
	if hasPrefix(s) {
		s = s[2:]
	} else if len(s) > 0 && len(s)%FingerprintDigits == 2 && string(s[:2]) == "0b" {
		return binaryWidth(s[2:])
	} else if bits, ok = binaryWidth(s); ok {
		return bits, ok
	}
	if _, ok := hex(s); !ok {
		return 0, false
	}
	return wide(len(s), 4)
}

// binaryWidth is WidthOf for binary digits.
func binaryWidth[S ~string | ~[]byte](s S) (bits int, ok bool) {
	for i := range len(s) {
		if s[i]|1 != '1' {
			return 0, false
		}
	}
	return wide(len(s), 1)
}

// wide returns the number of bits of n digits; ok is false if it is not the length of a fingerprint
// of several words.
func wide(n, bitsOfDigit int) (bits int, ok bool) {
	bits = n * bitsOfDigit
	if bits%FingerprintBits != 0 || bits <= FingerprintBits || bits > MaxWords*FingerprintBits {
		return 0, false
	}
	return bits, true
}

// Widths returns the possible numbers of bits of a fingerprint in a notation, the smaller one
// first. There are two if the digits may be binary or hexadecimal. Both are 0 if the text is not a
// fingerprint.
func Widths[S ~string | ~[]byte](s S, n Notation) (widths [2]int) {
	digits := len(s)
	if hasPrefix(s) || digits > 2 && string(s[:2]) == "0b" {
		digits -= 2
	}
	candidates := []int{FingerprintBits, digits, 4 * digits}
	if n == Base64 {
		candidates = []int{len(s) * 6 / FingerprintBits * FingerprintBits}
	}
	var words [MaxWords]Fingerprint
	found := 0
	for i, bits := range candidates {
		if bits%FingerprintBits != 0 || bits > MaxWords*FingerprintBits || bits < FingerprintBits || i > 0 && bits == FingerprintBits {
			continue
		}
		if _, err := ParseWords(words[:bits/FingerprintBits], s, n); err == nil {
			widths[found], found = bits, found+1
		}
	}
	return widths
}
