package textsim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/features"
)

// No filter rules out a similar text. The texts are random, with few letters or words, long and
// short, with repetitions, other scripts and invalid UTF-8, after random edits.
func TestFilters(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	alphabets := []string{"ab", "abcdefgh ", "abcdefghijklmnopqrstuvwxyz  ", "é世界a ", "\xff\xfea "}
	similar, ruledOut := map[string]int{}, map[string]int{}
	for range 20000 {
		alphabet := []byte(alphabets[rng.IntN(len(alphabets))])
		a := make([]byte, 1+rng.IntN([]int{5, 40, 300}[rng.IntN(3)]))
		for i := range a {
			a[i] = alphabet[rng.IntN(len(alphabet))]
		}
		b := a
		for range rng.IntN(1 + len(a)/4) {
			at, n := rng.IntN(len(b)+1), rng.IntN(2)
			b = append(append(append([]byte{}, b[:at]...), alphabet[:rng.IntN(2)]...), b[min(at+n, len(b)):]...)
		}
		if rng.IntN(4) == 0 {
			words := strings.Fields(string(b))
			rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			b = []byte(strings.Join(words, " "))
		}
		threshold := float64(1+rng.IntN(100)) / 100
		g := NewSigner(features.Spec{}).Sign(b)
		if int(g.Runes) != utf8.RuneCount(b) && !Blank(b) {
			t.Fatalf("%q has %d runes?", b, g.Runes)
		}
		edit, cosine := NewEditFilter(features.Spec{}, string(a), threshold), NewCosineFilter(features.Spec{}, string(a), threshold)
		bound := edit.Of(int(g.Runes))
		for name, may := range map[string]bool{
			"levenshtein": int(g.Runes) >= edit.Least && int(g.Runes) <= edit.Most && bound.May(&g.Edit), "cosine": cosine.May(&g.Words),
		} {
			compare := Levenshtein
			if name == "cosine" {
				compare = Cosine
			}
			score, ok := compare(features.Spec{}, string(a), threshold)(t.Context(), b)
			if ok && !may {
				t.Fatalf("%s %g: %q and %q, of similarity %g, are ruled out", name, threshold, a, b, score)
			}
			if ok {
				similar[name]++
			}
			if !may {
				ruledOut[name]++
			}
		}
	}
	for _, name := range []string{"levenshtein", "cosine"} {
		if similar[name] < 2000 || ruledOut[name] < 800 {
			t.Errorf("%s: %d similar, %d ruled out", name, similar[name], ruledOut[name])
		}
	}
}

// The lengths of similar texts are within the bounds.
func TestEditLengths(t *testing.T) {
	for n := range 200 {
		for percent := 1; percent <= 100; percent++ {
			threshold := float64(percent) / 100
			f := NewEditFilter(features.Spec{}, strings.Repeat("x", n), threshold)
			for m := 1; m < 3*n+20; m++ {
				d := max(n-m, m-n)
				if similar := d <= MostEdits(max(n, m), threshold); similar != (f.Least <= m && m <= f.Most) && n > 0 {
					t.Fatalf("%d and %d runes at %g: %v, but lengths are %d to %d", n, m, threshold, similar, f.Least, f.Most)
				}
			}
		}
	}
}

// For titles of random words, signatures rule out nearly all that are not similar.
func TestSignaturesRuleOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	title := func() string {
		var b strings.Builder
		for range 3 + rng.IntN(8) {
			fmt.Fprintf(&b, "%s ", strings.Repeat(string(rune('a'+rng.IntN(26))), 1)+randomText(rng, "etaoinshrdlu", 9))
		}
		return strings.TrimSpace(b.String())
	}
	signer, signatures := NewSigner(features.Spec{}), make([]Signature, 20000)
	for i := range signatures {
		signatures[i] = signer.Sign([]byte(title()))
	}
	edit, cosine := 0, 0
	for range 50 {
		text := title()
		f, c := NewEditFilter(features.Spec{}, text, 0.85), NewCosineFilter(features.Spec{}, text, 0.9)
		for i := range signatures {
			g := &signatures[i]
			if n := int(g.Runes); n >= f.Least && n <= f.Most {
				if bound := f.Of(n); bound.May(&g.Edit) {
					edit++
				}
			}
			if c.May(&g.Words) {
				cosine++
			}
		}
	}
	if edit > 1000 || cosine > 1000 {
		t.Errorf("of a million, %d may be similar by edits, %d by words", edit, cosine)
	}
}
