package base

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParseWords(t *testing.T) {
	const a, b = "9f3c5a0011223344", "00000000000000ff"
	ones := strings.Repeat("1", 128)
	for _, c := range []struct {
		text string
		n    Notation
		want string // value in hexadecimal and notation, or the error
	}{
		{a + b, Auto, a + b + " hex"}, {"0X" + strings.ToUpper(a+b), Hex, a + b + " hex"}, {strings.Repeat("0", 32), Auto, strings.Repeat("0", 32) + " hex"},
		{a, Auto, "the fingerprint has 16 hexadecimal digits; 128 bits have 32"}, {a + b + "0", Hex, "the fingerprint has 33 hexadecimal digits; 128 bits have 32"},
		{a + b[:14], Auto, "the fingerprint has 30 hexadecimal digits; 128 bits have 32"}, {"0x1", Auto, "the fingerprint has 1 hexadecimal digits; 128 bits have 32"},
		{a + b[:15] + "g", Auto, `not a fingerprint: "` + a + b[:15] + `g" is not 32 hexadecimal digits`}, {"", Auto, `not a fingerprint: "" is not 32 hexadecimal digits`},
		{"0x", Auto, `not a fingerprint: "0x" is not 32 hexadecimal digits`}, {"0x0x" + a + b[:14], Hex, `not a fingerprint: "0x0x` + a + b[:14] + `" is not 32 hexadecimal digits`},
		{a + b, Decimal, "not a fingerprint: write fingerprints of 128 bits in hexadecimal, not in decimal"},
		{ones, Auto, "ffffffffffffffffffffffffffffffff binary"}, {"0b" + ones, Binary, "ffffffffffffffffffffffffffffffff binary"},
		{ones, Hex, "the fingerprint has 128 hexadecimal digits; 128 bits have 32"}, {ones[1:], Auto, "the fingerprint has 127 hexadecimal digits; 128 bits have 32"},
		{"101", Binary, `not a fingerprint: "101" is not 128 binary digits`}, {a + b, Binary, `not a fingerprint: "` + a + b + `" is not 128 binary digits`},
		{"nzxaABEiM0QAAAAAAAAA/w==", Base64, a + b + " base64"}, {"nzxaABEiM0QAAAAAAAAA_w", Base64, a + b + " base64"},
		{"nzxaABEiM0QAAAAAAAAA/w=", Base64, `not a fingerprint: "nzxaABEiM0QAAAAAAAAA/w=" is not 22 letters of base64`},
		{"nzxaABEiM0QAAAAAAAAA/w=A", Base64, `not a fingerprint: "nzxaABEiM0QAAAAAAAAA/w=A" is not 22 letters of base64`},
		{"nzxaABEiM0QAAAAAAAAA/x", Base64, `not a fingerprint: "nzxaABEiM0QAAAAAAAAA/x" is not the base64 of 16 bytes`},
		{"nzxaABEiM0Q!AAAAAAAA/w", Base64, `not a fingerprint: "nzxaABEiM0Q!AAAAAAAA/w" is not the base64 of 16 bytes`},
		{"nzxaABEiM0Q=", Base64, `not a fingerprint: "nzxaABEiM0Q=" is not 22 letters of base64`},
	} {
		var dst [2]Fingerprint
		n, err := ParseWords(dst[:], c.text, c.n)
		got := fmt.Sprintf("%s %v", AppendHexWords(nil, dst[:]), n)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q as %v: %s, want %s", c.text, c.n, got, c.want)
		}
	}
	var one [1]Fingerprint
	if n, err := ParseWords(one[:], "-1", Auto); n != Decimal || err != nil || one[0] != ^Fingerprint(0) {
		t.Errorf("one word: %x, %v, %v", one, n, err)
	}
}

// TestWidths writes fingerprints of every width in every notation, and reads them again.
func TestWidths(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 12))
		w := 1 + r.IntN(MaxWords)
		words := make([]Fingerprint, w)
		for i := range words {
			words[i] = r.Uint64() >> r.IntN(64)
		}
		var raw []byte
		for _, x := range words {
			raw = binary.BigEndian.AppendUint64(raw, x)
		}
		big := new(big.Int).SetBytes(raw)
		hexDigits := fmt.Sprintf("%0*x", 16*w, big)
		if text := AppendHexWords(nil, words); string(text) != hexDigits {
			t.Fatalf("%x is written as %s", words, text)
		}
		binaryDigits, letters := fmt.Sprintf("%0*b", 64*w, big), base64.StdEncoding.EncodeToString(raw)
		got := make([]Fingerprint, w)
		for _, c := range []struct {
			text string
			n    Notation
			as   Notation
		}{
			{hexDigits, Auto, Hex}, {hexDigits, Hex, Hex}, {"0x" + hexDigits, Auto, Hex}, {binaryDigits, Auto, Binary}, {"0b" + binaryDigits, Binary, Binary},
			{letters, Base64, Base64}, {base64.RawURLEncoding.EncodeToString(raw), Base64, Base64},
		} {
			clear(got)
			if as, err := ParseWords(got, c.text, c.n); as != c.as || err != nil || !slices.Equal(got, words) {
				t.Fatalf("%s as %v: %x, %v, %v", c.text, c.n, got, as, err)
			}
			if widths := Widths(c.text, c.n); widths[0] != 64*w && widths[1] != 64*w {
				t.Fatalf("%s as %v may have %d bits", c.text, c.n, widths)
			}
			if bits, ok := WidthOf([]byte(c.text)); c.as != Base64 && w > 1 && (!ok || bits != 64*w) {
				t.Fatalf("%s has %d bits, %v", c.text, bits, ok)
			}
			for _, wrong := range []string{c.text[:len(c.text)-1], c.text + "0"} {
				if as, err := ParseWords(got, wrong, c.as); w > 1 && c.as != Base64 && err == nil {
					t.Fatalf("%s as %v is taken for %x, %v", wrong, c.as, got, as)
				}
			}
		}
		d := 0
		for i := range words {
			d += Distance(words[i], got[i]^uint64(i))
			got[i] ^= uint64(i)
		}
		if DistanceWords(words, got) != d {
			t.Fatalf("distance of %x and %x: %d, want %d", words, got, DistanceWords(words, got), d)
		}
	}
}

func TestWidthOf(t *testing.T) {
	of := strings.Repeat
	for text, want := range map[string]int{
		"": 0, "0x": 0, of("a", 16): 0, of("a", 31): 0, of("a", 32): 128, of("1234", 8): 128, "0x" + of("F", 64): 256, of("a", 256): 1024, of("a", 272): 0,
		of("g", 32): 0, of("1", 64): 256, of("01", 64): 128, "0b" + of("1", 256): 256, of("0", 1024): 1024, of("0", 1088): 0, "0b" + of("2", 128): 0,
		"0b" + of("a", 30): 128, of("a", 128): 512, of("a", 33): 0, of("0", 32): 128,
	} {
		if bits, ok := WidthOf(text); bits != want || ok != (want > 0) {
			t.Errorf("%q: %d bits, %v, want %d", text, bits, ok, want)
		}
	}
}

func TestWidthsOfTexts(t *testing.T) {
	of := strings.Repeat
	for _, c := range []struct {
		text string
		n    Notation
		want [2]int
	}{
		{"5", Auto, [2]int{64}}, {of("a", 16), Auto, [2]int{64}}, {"0xa", Hex, [2]int{64}}, {"-1", Decimal, [2]int{64}}, {"ff", Auto, [2]int{}}, {"", Auto, [2]int{}},
		{of("a", 32), Auto, [2]int{128}}, {of("a", 32), Binary, [2]int{}}, {of("1", 32), Decimal, [2]int{}}, {of("1", 32), Auto, [2]int{128}},
		{of("1", 64), Auto, [2]int{64, 256}}, {of("1", 64), Hex, [2]int{256}}, {of("1", 64), Binary, [2]int{64}}, {"0b" + of("1", 64), Auto, [2]int{64}},
		{"0x" + of("1", 64), Auto, [2]int{256}}, {of("0", 256), Auto, [2]int{256, 1024}}, {of("0", 512), Auto, [2]int{512}}, {of("0", 1088), Auto, [2]int{}},
		{of("a", 40), Auto, [2]int{}}, {of("A", 10) + "A", Base64, [2]int{64}}, {of("A", 22), Base64, [2]int{128}}, {of("A", 22) + "==", Base64, [2]int{128}},
		{of("A", 32), Base64, [2]int{192}}, {of("A", 171), Base64, [2]int{1024}}, {of("A", 23), Base64, [2]int{}}, {of("A", 4), Base64, [2]int{}},
	} {
		if got := Widths([]byte(c.text), c.n); got != c.want {
			t.Errorf("%q as %v: %v, want %v", c.text, c.n, got, c.want)
		}
	}
}

// TestEvidenceOfWidths checks the lengths of fingerprints in files, and the errors for refused
// files.
func TestEvidenceOfWidths(t *testing.T) {
	of := strings.Repeat
	h64, h128, h256, zeros := of("a", 16), of("b", 32), of("c", 64), of("0", 64)
	for _, c := range []struct {
		texts []string
		asked int
		want  string
	}{
		{nil, 0, "0"}, {nil, 128, "0"}, {[]string{h64, "5"}, 0, "64"}, {[]string{h256, zeros}, 0, "256"}, {[]string{zeros, h256}, 0, "256"}, {[]string{zeros}, 0, "64"},
		{[]string{zeros}, 256, "256"}, {[]string{zeros, h64}, 0, "64"}, {[]string{of("0", 256), of("1", 64)}, 0, "256"}, {[]string{"words", h128}, 128, "128"},
		{[]string{h256, h128}, 0, "the fingerprint of line 1, " + h256[:40] + "..., has 256 bits, but that of line 2, " + h128 + ", has 128"},
		{[]string{zeros, h256, "-", h64}, 256, "the fingerprint of line 2, " + h256[:40] + "..., has 256 bits, but that of line 4, " + h64 + ", has 64"},
		{[]string{"-", h256}, 128, "the fingerprint of line 2, " + h256[:40] + "..., has 256 bits, but the fingerprints to compare it with have 128"},
		{[]string{zeros, h64}, 256, "the fingerprint of line 2, " + h64 + ", has 64 bits, but the fingerprints to compare it with have 256"},
		{[]string{"c7e7e3c18000001"}, 256, "the fingerprint of line 1, c7e7e3c18000001, has 64 bits, but the fingerprints to compare it with have 256"},
		{[]string{"c7e7e3c18000001"}, 0, "64"},
	} {
		var e Evidence
		for i, s := range c.texts {
			if _, as, err := ParseCell(s, Auto); err == nil {
				e.Add(int64(i+1), []byte(s), as)
			}
			e.AddWidths(int64(i+1), []byte(s), Widths(s, Auto))
		}
		bits, err := e.Width(c.asked, "line")
		got := fmt.Sprint(bits)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q of %d: %s, want %s", c.texts, c.asked, got, c.want)
		}
	}
}
