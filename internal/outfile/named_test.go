package outfile

import (
	"strings"
	"testing"
)

// Names are found under all spellings that strings.EqualFold considers equal, and under no others.
func TestFolded(t *testing.T) {
	names := []string{"a.txt", "A.TXT", "b.txt", "k", "K", "\u212a", "s", "\u017f", "ß", "ẞ", "ss", "é", "É", "σ", "ς", "Σ", "\xff", "\xfe", "İ", "i", "ı"}
	for _, a := range names {
		for _, b := range names {
			if got, want := folded("x/"+a) == folded(b), strings.EqualFold(a, b); got != want {
				t.Errorf("%q and %q: folded are equal: %v, want %v", a, b, got, want)
			}
		}
	}
}
