// Package fptext reads 64-bit fingerprints that are written as text. It is the only parser of them: files, JSON strings and
// statements follow the same rule.
//
//	0x and 1 to 16 hexadecimal digits    hexadecimal
//	exactly 16 hexadecimal digits        hexadecimal, also when all of them are decimal digits
//	any other 1 to 20 decimal digits     decimal, at most 2^64-1
//
// One text alone can't tell whether 1234567890123456 was meant as hexadecimal. A whole file can, since its lines are written
// alike; see Ambiguous.
package fptext

import (
	"fmt"
	"strconv"
)

// Notation is how a fingerprint is written.
type Notation uint8

// The notations.
const (
	Auto    Notation = iota // by the rule of the package
	Hex                     // 1 to 16 hexadecimal digits, with or without 0x
	Decimal                 // 1 to 20 decimal digits
)

// String returns "auto", "hex" or "decimal".
func (n Notation) String() string {
	switch n {
	case Hex:
		return "hex"
	case Decimal:
		return "decimal"
	}
	return "auto"
}

// UnmarshalText accepts "hex", "decimal" and "auto".
func (n *Notation) UnmarshalText(text []byte) error {
	for _, known := range []Notation{Auto, Hex, Decimal} {
		if string(text) == known.String() {
			*n = known
			return nil
		}
	}
	return fmt.Errorf("%q is not a notation of fingerprints: it is hex or decimal", text)
}

const (
	width      = 16 // digits of a hexadecimal fingerprint that needs no 0x
	maxDecimal = 20 // digits of the greatest decimal one
)

// hexValues are the values of hexadecimal digits; those of all other bytes are 16.
var hexValues = func() (values [256]uint8) {
	for c := range values {
		values[c] = 16
	}
	for v := range uint8(16) {
		values["0123456789abcdef"[v]], values["0123456789ABCDEF"[v]] = v, v
	}
	return values
}()

// Parse reads a fingerprint and says in which notation it was read: n, or by the rule if that is Auto.
func Parse[S ~string | ~[]byte](s S, n Notation) (uint64, Notation, error) {
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
	v, err := strconv.ParseUint(string(s), 10, 64)
	switch {
	case err == nil && len(s) <= maxDecimal:
		return v, Decimal, nil
	case allDigits(s) && len(s) > maxDecimal:
		return 0, Decimal, fmt.Errorf("the fingerprint has %d digits, 64 bits have at most 20 decimal ones", len(s))
	case allDigits(s):
		return 0, Decimal, fmt.Errorf("the fingerprint %s does not fit into 64 bits", short(s))
	case n == Decimal:
		return 0, Decimal, fmt.Errorf("not a fingerprint: %q is not a decimal number", short(s))
	}
	return 0, Auto, notFingerprint(s)
}

// notFingerprint is the error for a text that no notation reads.
func notFingerprint[S ~string | ~[]byte](s S) error {
	if _, ok := hex(s); !ok || len(s) == 0 {
		return fmt.Errorf("not a fingerprint: %q is neither 16 hexadecimal digits nor a decimal number", short(s))
	}
	if len(s) < width {
		return fmt.Errorf("not a fingerprint: %q has %d hexadecimal digits; fewer than 16 need 0x before them", short(s), len(s))
	}
	return fmt.Errorf("the fingerprint has %d hexadecimal digits, 64 bits have at most 16", len(s))
}

func parsePrefixed[S ~string | ~[]byte](s S) (uint64, Notation, error) { return parseHex(s[2:], s) }

// parseHex reads the hexadecimal digits of the text whole.
func parseHex[S ~string | ~[]byte](digits, whole S) (uint64, Notation, error) {
	if hasPrefix(digits) && len(digits) == len(whole) {
		digits = digits[2:]
	}
	v, ok := hex(digits)
	switch {
	case !ok || len(digits) == 0:
		return 0, Hex, fmt.Errorf("not a fingerprint: %q is not made of hexadecimal digits", short(whole))
	case len(digits) > width:
		return 0, Hex, fmt.Errorf("the fingerprint has %d hexadecimal digits, 64 bits have at most 16", len(digits))
	}
	return v, Hex, nil
}

// Ambiguous says whether s is read as hexadecimal by the rule but is, with another value, a decimal number too: 16 decimal
// digits.
func Ambiguous[S ~string | ~[]byte](s S) bool {
	if len(s) != width || !allDigits(s) {
		return false
	}
	small := true // hexadecimal and decimal agree on one digit
	for i := range width - 1 {
		small = small && s[i] == '0'
	}
	return !small
}

// hex returns the value of hexadecimal digits, of the last 16 of them; ok is false if another byte is among them.
func hex[S ~string | ~[]byte](s S) (v uint64, ok bool) {
	all := uint8(0)
	for i := range len(s) {
		d := hexValues[s[i]]
		v, all = v<<4|uint64(d&15), all|d
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

// short cuts s for a message.
func short[S ~string | ~[]byte](s S) string {
	if len(s) > 40 {
		return string(s[:40]) + "..."
	}
	return string(s)
}
