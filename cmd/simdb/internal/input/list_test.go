package input

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

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
