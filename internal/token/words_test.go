package token

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The words that SplitWords yields are those that are hashed, whatever the text: marks in front of
// words and within them, runes that Unicode has not assigned, bytes that are not UTF-8.
func TestSplitWords(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	sets := slices.Concat([]*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P}, soloScripts)
	draw := func() string {
		switch r.IntN(4) {
		case 0:
			return string(rune(r.IntN(unicode.MaxRune + 1)))
		case 1:
			return string([]byte{byte(r.IntN(256))})
		case 2:
			return pieces[r.IntN(len(pieces))]
		}
		set := sets[r.IntN(len(sets))]
		span := set.R16[r.IntN(len(set.R16))]
		return string(rune(int(span.Lo) + r.IntN(int(span.Hi-span.Lo)+1)))
	}
	h := NewHasher(7)
	found := 0
	for range 20000 {
		var b strings.Builder
		for range r.IntN(20) {
			b.WriteString(draw())
		}
		var want, got []uint64
		h.Words(b.String(), func(hash uint64) { want = append(want, hash) })
		for w := range SplitWords(b.String()) {
			got = append(got, h.Word([]byte(w)))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q is split into %q", b.String(), slices.Collect(SplitWords(b.String())))
		}
		found += len(want)
	}
	if found < 50000 {
		t.Errorf("only %d words were compared", found)
	}
	for w := range SplitWords("one two three") {
		if w == "two" {
			break // an iterator that goes on after this panics
		}
	}
}
