package base

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRule(t *testing.T) {
	for _, c := range []struct {
		text string
		n    Notation
		want string // value in hexadecimal and notation, or the error
	}{
		{"0x0", Auto, "0 hex"}, {"0XfF", Auto, "ff hex"}, {"0x1234567890abcdef", Auto, "1234567890abcdef hex"},
		{"9f3c5a0011223344", Auto, "9f3c5a0011223344 hex"}, {"9F3C5A0011223344", Auto, "9f3c5a0011223344 hex"},
		{"1234567890123456", Auto, "1234567890123456 hex"}, {"231231231231231", Auto, "d24db76604ff decimal"},
		{"12345678901234567", Auto, "2bdc545d6b4b87 decimal"}, {"0", Auto, "0 decimal"}, {"007", Auto, "7 decimal"},
		{"18446744073709551615", Auto, "ffffffffffffffff decimal"}, {"00000000000000000001", Auto, "1 decimal"},
		{"18446744073709551616", Auto, "the fingerprint 18446744073709551616 does not fit into 64 bits"},
		{"000000000000000000001", Auto, "the fingerprint has 21 digits; 64 bits have at most 20 decimal digits"},
		{"0x", Auto, `not a fingerprint: "0x" is not made of hexadecimal digits`},
		{"0x0x1", Auto, `not a fingerprint: "0x0x1" is not made of hexadecimal digits`},
		{"0x12345678901234567", Auto, "the fingerprint has 17 hexadecimal digits; 64 bits have at most 16"},
		{"9f3c5a00112233445", Auto, "the fingerprint has 17 hexadecimal digits; 64 bits have at most 16"},
		{"ff", Auto, `not a fingerprint: "ff" has 2 hexadecimal digits; fewer than 16 need 0x before them, or Fingerprints: hex`},
		{"9f3c5a001122334g", Auto, `not a fingerprint: "9f3c5a001122334g" is neither 16 hexadecimal digits nor a decimal number`},
		{"-1", Auto, "ffffffffffffffff decimal"}, {"-9223372036854775808", Auto, "8000000000000000 decimal"}, {"-0", Auto, "0 decimal"},
		{"-5727533220473680276", Decimal, "b083b6e1ba6ace6c decimal"}, {"-123456789012345", Auto, "ffff8fb779f22087 decimal"},
		{"-9223372036854775809", Auto, "the fingerprint -9223372036854775809 does not fit into 64 bits"},
		{"-1", Hex, `not a fingerprint: "-1" is not made of hexadecimal digits`}, {"-", Auto, `not a fingerprint: "-" is neither 16 hexadecimal digits nor a decimal number`},
		{"--1", Auto, `not a fingerprint: "--1" is neither 16 hexadecimal digits nor a decimal number`},
		{"-5.72753E+18", Auto, `not a fingerprint: "-5.72753E+18" is a number that has lost its last digits, as in a spreadsheet or as floating point`},
		{"", Auto, `not a fingerprint: "" is neither 16 hexadecimal digits nor a decimal number`},
		{"+1", Auto, `not a fingerprint: "+1" is neither 16 hexadecimal digits nor a decimal number`},
		{"1_000", Auto, `not a fingerprint: "1_000" is neither 16 hexadecimal digits nor a decimal number`},
		{" 1", Auto, `not a fingerprint: " 1" is neither 16 hexadecimal digits nor a decimal number`},
		{"231231231231231", Hex, "231231231231231 hex"}, {"0x10", Hex, "10 hex"}, {"10", Hex, "10 hex"},
		{"18446744073709551615", Hex, "the fingerprint has 20 hexadecimal digits; 64 bits have at most 16"},
		{"", Hex, `not a fingerprint: "" is not made of hexadecimal digits`}, {"0x", Hex, `not a fingerprint: "0x" is not made of hexadecimal digits`},
		{"1234567890123456", Decimal, "462d53c8abac0 decimal"}, {"0x10", Decimal, `not a fingerprint: "0x10" is not a decimal number`},
		{"9f3c5a0011223344", Decimal, `not a fingerprint: "9f3c5a0011223344" is not a decimal number`},
		{"nzxaABEiM0Q=", Base64, "9f3c5a0011223344 base64"}, {"nzxaABEiM0Q", Base64, "9f3c5a0011223344 base64"},
		{"AAAAAAAAAAA", Base64, "0 base64"}, {"//////////8=", Base64, "ffffffffffffffff base64"}, {"__________8", Base64, "ffffffffffffffff base64"},
		{"-_-_-_-_-_8", Base64, "fbffbffbffbffbff base64"}, {"+_-/+_-/+_8=", Base64, "fbffbffbffbffbff base64"},
		{"nzxaABEiM0R", Base64, `not a fingerprint: "nzxaABEiM0R" is not the base64 of 8 bytes`},
		{"nzxaABEiM0", Base64, `not a fingerprint: "nzxaABEiM0" is not 11 letters of base64`},
		{"nzxaABEiM0Q==", Base64, `not a fingerprint: "nzxaABEiM0Q==" is not 11 letters of base64`},
		{"nzxaABEiM=Q", Base64, `not a fingerprint: "nzxaABEiM=Q" is not the base64 of 8 bytes`},
		{"9f3c5a0011223344", Base64, `not a fingerprint: "9f3c5a0011223344" is not 11 letters of base64`},
		{"", Base64, `not a fingerprint: "" is not 11 letters of base64`}, {"nzxaABEiM0Q=", Auto, `not a fingerprint: "nzxaABEiM0Q=" is neither 16 hexadecimal digits nor a decimal number`},
		{"18446744073709551616", Decimal, "the fingerprint 18446744073709551616 does not fit into 64 bits"},
		{strings.Repeat("1001", 16), Auto, "9999999999999999 binary"}, {strings.Repeat("0", 63) + "1", Binary, "1 binary"}, {"0b" + strings.Repeat("1001", 16), Auto, "9999999999999999 binary"},
		{strings.Repeat("1001", 16), Hex, "the fingerprint has 64 hexadecimal digits; 64 bits have at most 16"},
		{"101", Binary, `not a fingerprint: "101" is not 64 binary digits`},
		{strings.Repeat("1", 65), Auto, "the fingerprint has 65 digits; 64 bits have at most 20 decimal digits"},
	} {
		for _, parse := range []func() (uint64, Notation, error){
			func() (uint64, Notation, error) { return ParseFingerprint(c.text, c.n) },
			func() (uint64, Notation, error) { return ParseFingerprint([]byte(c.text), c.n) },
		} {
			v, n, err := parse()
			got := fmt.Sprintf("%x %v", v, n)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q as %v: %s, want %s", c.text, c.n, got, c.want)
			}
		}
	}
}

func TestAmbiguous(t *testing.T) {
	for s, want := range map[string]bool{
		"1234567890123456": true, "0000000000000010": true, "0000000000000009": false, "0000000000000000": false,
		"123456789012345": false, "123456789012345a": false, "12345678901234567": false, "": false,
	} {
		if Ambiguous(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

// FuzzParse compares ParseFingerprint with a literal implementation of the rule, on big numbers.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0x1f", "9f3c5a0011223344", "1234567890123456", "18446744073709551616", "0X", "٣", "-1", "0x-1", "1e5", "nzxaABEiM0Q=", "__________8", "-777777777777777", strings.Repeat("01", 32)} {
		for n := range uint8(4) {
			f.Add(s, n)
		}
	}
	f.Fuzz(func(t *testing.T, s string, mode uint8) {
		n := Notation(mode % 4)
		got, as, err := ParseFingerprint(s, n)
		want, wantAs, ok := byTheRule(s, n)
		if ok != (err == nil) || ok && (got != want || as != wantAs) {
			t.Fatalf("%q as %v: %x, %v, %v; want %x, %v, %v", s, n, got, as, err, want, wantAs, ok)
		}
		if _, _, differs := byTheRule(s, Decimal); Ambiguous(s) && (!differs || as == Decimal && n == Auto) {
			t.Fatalf("%q is not ambiguous", s)
		}
	})
}

// TestAppend checks that ParseFingerprint reads the output of AppendHex, as Hex and as Auto.
func TestAppend(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 13))
		fp := r.Uint64() >> r.IntN(64)
		text := AppendHex(nil, fp)
		if want := fmt.Sprintf("%016x", fp); string(text) != want {
			t.Fatalf("%q, want %q", text, want)
		}
		for _, n := range []Notation{Auto, Hex} {
			if got, as, err := ParseFingerprint(text, n); got != fp || as != Hex || err != nil {
				t.Fatalf("ParseFingerprint(%q, %v) = %x, %v, %v", text, n, got, as, err)
			}
		}
	}
}

// byTheRule is another implementation of the rule.
func byTheRule(s string, n Notation) (v uint64, as Notation, ok bool) {
	if n == Base64 {
		if len(s) == 12 {
			s = strings.TrimSuffix(s, "=")
		}
		b, err := base64.RawURLEncoding.Strict().DecodeString(strings.NewReplacer("+", "-", "/", "_").Replace(s))
		if err != nil || len(s) != 11 || strings.ContainsAny(s, "\r\n") {
			return 0, Base64, false
		}
		return binary.BigEndian.Uint64(b), Base64, true
	}
	if bits := strings.TrimPrefix(s, "0b"); n == Binary || n == Auto && len(bits) == 64 && strings.Trim(bits, "01") == "" {
		b, ok := new(big.Int).SetString("0"+bits, 2)
		if !ok || len(bits) != 64 || strings.Trim(bits, "01") != "" {
			return 0, Binary, false
		}
		return b.Uint64(), Binary, true
	}
	digits := s
	prefixed := strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X")
	if prefixed {
		digits = s[2:]
	}
	isHex := digits != "" && strings.Trim(digits, "0123456789abcdefABCDEF") == "" && len(digits) <= 16
	magnitude := strings.TrimPrefix(s, "-")
	isDecimal := magnitude != "" && len(magnitude) <= 20 && strings.Trim(magnitude, "0123456789") == ""
	base := 10
	switch {
	case n == Decimal && isDecimal, n == Auto && isDecimal && !(isHex && len(s) == 16):
		as = Decimal
	case n == Hex && isHex, n == Auto && isHex && (prefixed || len(s) == 16):
		as, base = Hex, 16
	default:
		return 0, 0, false
	}
	b, ok := new(big.Int).SetString(digits, base)
	if ok && b.Sign() <= 0 && s[0] == '-' {
		return uint64(b.Int64()), as, b.IsInt64()
	}
	return b.Uint64(), as, ok && b.IsUint64()
}

// TestEvidence checks the notations of files with various fingerprints, and the errors for refused
// files.
func TestEvidence(t *testing.T) {
	for texts, want := range map[string]string{
		"ff3c5a0011223344 ff3c5a0011223345":                "hex",
		"-1 1 18446744073709551615":                        "decimal",
		"3c7e7e3c18000000 c7e7e3c18000001 c7e7e3c18000003": "hex short",
		"3c7e7e3c1800000a c7e7e3c18000001 123456789012345": "decimal short",
		"ff00aa11 c7e7e3c1 12345678":                       "decimal short",
		"5 6 ff":                                           "decimal", // ff is an error
		"ff 18446744073709551615":                          "decimal",
		"ff3c5a0011223344 5":                               "line 1, ff3c5a0011223344, looks hexadecimal, but that of line 2, 5, looks decimal",
		"ff3c5a0011223344 ff -5":                           "line 1, ff3c5a0011223344, looks hexadecimal, but that of line 3, -5, looks decimal",
		"12345678901234567 1234567890123456":               "line 1, 12345678901234567, looks decimal, but that of line 2, 1234567890123456, looks hexadecimal",
		strings.Repeat("1234567890123456 ", 8):             "from line 1 (1234567890123456) on have 16 decimal digits",
		strings.Repeat("1234567890123456 ", 7):             "hex undecided",
		strings.Repeat("1234567890123456 ", 8) + "0x1":     "hex",
		"words of nothing but letters+=/":                  "auto",
	} {
		var e Evidence
		for i, s := range strings.Fields(texts) {
			if _, as, err := ParseCell(s, Auto); err == nil {
				e.Add(int64(i+1), []byte(s), as)
			}
		}
		got := e.Shows().String()
		if e.Short() {
			got += " short"
		} else if err := cmp.Or(e.Conflict("line"), e.Guessed("line")); err != nil {
			got = err.Error()
		} else if e.Undecided() {
			got += " undecided"
		}
		if got != want && (len(want) < 30 || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", texts, got, want)
		}
	}
}
