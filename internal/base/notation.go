package base

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/simdb/simdb/internal/option"
)

// Notation is the notation of a fingerprint as text. A fingerprint of several words has exactly as
// many digits as its bits need, first word first, and no decimal notation (wide.go).
type Notation uint8

// Notations.
const (
	Auto    Notation = iota // by the rule in the package comment
	Hex                     // 1 to 16 hexadecimal digits, with or without 0x
	Decimal                 // 1 to 20 decimal digits, optionally after -
	Binary                  // 64 binary digits, with or without 0b
	Base64                  // 8 bytes in base64 (RFC 4648), most significant first: 11 letters of either alphabet, and optionally =
)

// String returns "auto", "hex", "decimal", "binary" or "base64".
func (n Notation) String() string {
	switch n {
	case Hex:
		return "hex"
	case Decimal:
		return "decimal"
	case Binary:
		return "binary"
	case Base64:
		return "base64"
	}
	return "auto"
}

// MarshalText returns the same as String.
func (n Notation) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText accepts the results of String.
func (n *Notation) UnmarshalText(text []byte) error {
	for _, known := range []Notation{Auto, Hex, Decimal, Binary, Base64} {
		if string(text) == known.String() {
			*n = known
			return nil
		}
	}
	return fmt.Errorf("%q is not a notation of fingerprints: use hex, decimal, binary or base64", text)
}

const (
	width      = FingerprintDigits // digits of a hexadecimal fingerprint without 0x
	maxDecimal = 20                // digits of the largest decimal fingerprint
)

// AppendHex appends fp in the standard notation: FingerprintDigits hexadecimal digits in lower
// case, without 0x. ParseFingerprint can read it.
func AppendHex(dst []byte, fp Fingerprint) []byte {
	const digits = "0123456789abcdef"
	for shift := FingerprintBits - 4; shift >= 0; shift -= 4 {
		dst = append(dst, digits[fp>>shift&15])
	}
	return dst
}

// hexValues are the values of hexadecimal digits; other bytes have the value 16.
var hexValues = func() (values [256]uint8) {
	for c := range values {
		values[c] = 16
	}
	for v := range uint8(16) {
		values["0123456789abcdef"[v]], values["0123456789ABCDEF"[v]] = v, v
	}
	return values
}()

// ParseFingerprint reads a fingerprint. It returns the notation used: n or, if n is Auto, the one
// that the rule of the package gives.
func ParseFingerprint[S ~string | ~[]byte](s S, n Notation) (Fingerprint, Notation, error) {
	if n == Base64 || n == Binary || n == Auto && len(s) >= FingerprintBits {
		var v [1]Fingerprint
		if as, err := parseExact(v[:], s, n); as != Auto {
			return v[0], as, err
		}
	}
	if len(s) == width && n != Decimal {
		if v, ok := hex(s); ok {
			return v, Hex, nil
		}
	}
	if hasPrefix(s) && n != Decimal {
		return parsePrefixed(s)
	}
	if n == Hex {
		return parseHex(s, s)
	}
	if len(s) > 1 && s[0] == '-' && allDigits(s[1:]) {
		return parseSigned(s)
	}
	v, err := strconv.ParseUint(string(s), 10, FingerprintBits)
	switch {
	case err == nil && len(s) <= maxDecimal:
		return v, Decimal, nil
	case allDigits(s) && len(s) > maxDecimal:
		return 0, Decimal, fmt.Errorf("the fingerprint has %d digits; 64 bits have at most 20 decimal digits", len(s))
	case allDigits(s):
		return 0, Decimal, fmt.Errorf("the fingerprint %s does not fit into 64 bits", short(s))
	case n == Decimal:
		return 0, Decimal, fmt.Errorf("not a fingerprint: %q is not a decimal number", short(s))
	}
	return 0, Auto, notFingerprint(s)
}

// parseSigned reads a minus sign and decimal digits.
func parseSigned[S ~string | ~[]byte](s S) (Fingerprint, Notation, error) {
	v, err := strconv.ParseInt(string(s), 10, FingerprintBits)
	if err != nil || len(s) > maxDecimal+1 {
		return 0, Decimal, fmt.Errorf("the fingerprint %s does not fit into 64 bits", short(s))
	}
	return Fingerprint(v), Decimal, nil
}

// ParseCell is ParseFingerprint for a cell of a column of fingerprints. With Auto, it also accepts
// fewer than 16 hexadecimal digits if some are letters.
func ParseCell[S ~string | ~[]byte](s S, n Notation) (Fingerprint, Notation, error) {
	v, as, err := ParseFingerprint(s, n)
	if err != nil && IsShort(s) && n == Auto {
		return ParseFingerprint(s, Hex)
	}
	return v, as, err
}

// IsShort reports whether s is hexadecimal because of its letters, and has fewer digits than the
// rule requires without 0x.
func IsShort[S ~string | ~[]byte](s S) bool {
	if len(s) == 0 || len(s) >= width || allDigits(s) {
		return false
	}
	_, ok := hex(s)
	return ok
}

// base64Values are the values of the letters of both alphabets; other bytes have the value 64.
var base64Values = func() (values [256]uint8) {
	for c := range values {
		values[c] = 64
	}
	for _, alphabet := range []string{"+/", "-_"} {
		for v, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + alphabet) {
			values[c] = uint8(v)
		}
	}
	return values
}()

// notFingerprint returns the error for a text that is not a fingerprint in any notation.
func notFingerprint[S ~string | ~[]byte](s S) error {
	if _, ok := hex(s); !ok || len(s) == 0 {
		if _, err := strconv.ParseFloat(string(s), 64); err == nil && strings.ContainsAny(string(s), "eE") {
			return fmt.Errorf("not a fingerprint: %q is a number that has lost its last digits, as in a spreadsheet or as floating point", short(s))
		}
		return fmt.Errorf("not a fingerprint: %q is neither 16 hexadecimal digits nor a decimal number", short(s))
	}
	if len(s) < width {
		return fmt.Errorf("not a fingerprint: %q has %d hexadecimal digits; fewer than 16 need 0x before them, or %s", short(s), len(s), option.Set("Fingerprints", Hex))
	}
	return fmt.Errorf("the fingerprint has %d hexadecimal digits; 64 bits have at most 16", len(s))
}

func parsePrefixed[S ~string | ~[]byte](s S) (Fingerprint, Notation, error) {
	return parseHex(s[2:], s)
}

// parseHex reads hexadecimal digits; whole is the text that contains them.
func parseHex[S ~string | ~[]byte](digits, whole S) (Fingerprint, Notation, error) {
	if hasPrefix(digits) && len(digits) == len(whole) {
		digits = digits[2:]
	}
	v, ok := hex(digits)
	switch {
	case !ok || len(digits) == 0:
		return 0, Hex, fmt.Errorf("not a fingerprint: %q is not made of hexadecimal digits", short(whole))
	case len(digits) > width:
		return 0, Hex, fmt.Errorf("the fingerprint has %d hexadecimal digits; 64 bits have at most 16", len(digits))
	}
	return v, Hex, nil
}

// Ambiguous reports whether the rule reads s as hexadecimal although s is also a decimal number
// with a different value: s has 16 decimal digits.
func Ambiguous[S ~string | ~[]byte](s S) bool {
	if len(s) != width || !allDigits(s) {
		return false
	}
	small := true // hexadecimal and decimal agree for a single digit
	for i := range width - 1 {
		small = small && s[i] == '0'
	}
	return !small
}

// hex returns the value of the last 16 hexadecimal digits in s; ok is false if s contains another
// byte.
func hex[S ~string | ~[]byte](s S) (v Fingerprint, ok bool) {
	all := uint8(0)
	for i := range len(s) {
		d := hexValues[s[i]]
		v, all = v<<4|Fingerprint(d&15), all|d
	}
	return v, all < 16
}

func hasPrefix[S ~string | ~[]byte](s S) bool {
	return len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x'
}

func allDigits[S ~string | ~[]byte](s S) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) > 0
}

// short truncates s for a message.
func short[S ~string | ~[]byte](s S) string {
	if len(s) > 40 {
		return string(s[:40]) + "..."
	}
	return string(s)
}
