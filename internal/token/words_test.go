package token

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// Split yields exactly the words that are hashed, for any text: marks before and within words,
// runes that Unicode has not assigned, bytes that are not UTF-8.
func TestSplitWords(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	h := NewHasher(7)
	shinglers := map[bool]*Shingler{false: NewShingler(1, 7), true: New(Config{Shingle: 1, Seed: 7, Symbols: true})}
	sets := slices.Concat([]*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S}, soloScripts)
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
	found := 0
	for range 20000 {
		var b strings.Builder
		for range r.IntN(20) {
			b.WriteString(draw())
		}
		for symbols, s := range shinglers {
			var want collect
			s.Text(b.String(), &want)
			var got []uint64
			for w := range (Rules{Symbols: symbols}).Split(b.String()) {
				got = append(got, finish(h.Of(w)))
			}
			if !slices.Equal(got, want.hashes) {
				t.Fatalf("%q is split into %q", b.String(), slices.Collect(Rules{Symbols: symbols}.Split(b.String())))
			}
			found += len(got)
		}
	}
	if found < 100000 {
		t.Errorf("only %d words were compared", found)
	}
	for w := range (Rules{}).Split("one two three") {
		if w == "two" {
			break // an iterator that ignores the break would panic
		}
	}
}

func TestCount(t *testing.T) {
	for text, n := range map[string]int{"": 0, " ": 0, "...": 1, "a b": 2, "一二三": 3, "don't": 2} {
		if (Rules{}).Count([]byte(text), n+1) != n || (Rules{}).Count([]byte(text), n) != n {
			t.Errorf("%q has not %d words", text, n)
		}
	}
	if n := (Rules{Symbols: true}).Count([]byte("x==y z"), 10); n != 4 {
		t.Errorf("%d words", n)
	}
	if n := (Rules{}).Count([]byte("a b c d"), 2); n != 2 {
		t.Errorf("%d words, of 2 that are counted", n)
	}
}
