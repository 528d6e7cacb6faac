package input

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestParseHex compares the two readers of hexadecimal digits, on right and wrong ones of all lengths.
func TestParseHex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 20000 {
		s := fmt.Appendf(nil, "%0*x", r.IntN(20), r.Uint64()>>r.IntN(64))
		if r.IntN(2) == 0 {
			s = bytes.ToUpper(s)
		}
		for range r.IntN(2) {
			s[r.IntN(len(s))] = "0x+ gG/:@`\xff\x00fF9-_"[r.IntN(16)]
		}
		want, wantErr := ParseHex(string(s))
		if got, err := parseHex(s); got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q is %x, %v, want %x, %v", s, got, err, want, wantErr)
		}
	}
}

// TestColumns compares lines with tabs with bytes.Split.
func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 5000 {
		line := []byte("\t")
		for range r.IntN(12) {
			line = append(line, "ab \t\t\r"[r.IntN(6)])
		}
		if got := columns(line); !slices.EqualFunc(got, bytes.Split(line, []byte("\t")), bytes.Equal) {
			t.Fatalf("%q has columns %q", line, got)
		}
	}
	for _, c := range []struct {
		line string
		want []string
	}{{"", []string{""}}, {" a ", []string{"a"}}, {"a   b c ", []string{"a", "b c"}}} {
		got := columns([]byte(c.line))
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%q has columns %q, want %q", c.line, got, c.want)
		}
	}
}
