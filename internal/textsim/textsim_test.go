package textsim

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/features"
)

// slowDistance computes the edit distance by the textbook algorithm.
func slowDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := range a {
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d[i+1][j+1] = min(d[i][j]+cost, d[i][j+1]+1, d[i+1][j]+1)
		}
	}
	return d[len(a)][len(b)]
}

func randomText(rng *rand.Rand, alphabet string, longest int) string {
	runes := []rune(alphabet)
	out := make([]rune, rng.IntN(longest+1))
	for i := range out {
		out[i] = runes[rng.IntN(len(runes))]
	}
	return string(out)
}

// A text of only white space is not similar to any text, in all parts of the comparison.
func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " ": true, "\n\t \r\v\f": true, "\u00a0\u3000\u2028": true, " a": false, "\u3000。": false, "\x00": false, "\u200b": false, "\xff": false, " \xe3\x80": false, "\u0085 ": true,
	} {
		if Blank(text) != want || Blank([]byte(text)) != want || want != (strings.TrimSpace(text) == "") {
			t.Errorf("%q: %v", text, Blank(text))
		}
		for _, other := range []string{text, " ", "x"} {
			_, ok := Levenshtein(features.Spec{}, text, 0.01)(context.Background(), []byte(other))
			_, back := Levenshtein(features.Spec{}, other, 0.01)(context.Background(), []byte(text))
			if want && (ok || back) || !want && other == text && !ok {
				t.Errorf("%q and %q: %v, %v", text, other, ok, back)
			}
		}
		if g := NewSigner(features.Spec{}).Sign([]byte(text)); want && g != (Signature{}) || !want && g.Runes == 0 {
			t.Errorf("%q: signature %+v", text, g)
		}
	}
}

func TestLevenshtein(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		a, b := randomText(rng, "abé", 14), randomText(rng, "abé", 14)
		if rng.IntN(2) == 0 { // a similar copy
			r := []rune(a)
			for range rng.IntN(3) {
				if i := rng.IntN(len(r) + 1); i < len(r) {
					r[i] = 'x'
				}
			}
			b = string(r)
		}
		threshold := float64(1+rng.IntN(20)) / 20
		longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
		got, ok := Levenshtein(features.Spec{}, a, threshold)(context.Background(), []byte(b))
		if longer == 0 {
			if ok {
				t.Fatal("two empty texts are similar")
			}
			continue
		}
		want := 1 - float64(slowDistance([]rune(a), []rune(b)))/float64(longer)
		if wantOK := want >= threshold-1e-9; ok != wantOK || ok && math.Abs(got-want) > 1e-12 {
			t.Fatalf("%q, %q, t = %g: got %g, %v, want %g, %v", a, b, threshold, got, ok, want, wantOK)
		}
	}
}

// TestLevenshteinCancels compares long similar texts, and checks that the comparison stops if the
// context has ended.
func TestLevenshteinCancels(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := rand.New(rand.NewPCG(1, 2))
	a, b := make([]byte, 50_000), make([]byte, 50_000)
	for i := range a {
		a[i] = 'a' + byte(r.IntN(20))
		b[i] = a[i]
		if r.IntN(5) == 0 {
			b[i] = 'z'
		}
	}
	compare := Levenshtein(features.Spec{}, string(a), 0.5)
	if _, ok := compare(ctx, b); !ok {
		t.Error("texts that are alike")
	}
	cancel()
	if _, ok := compare(ctx, b); ok {
		t.Error("a comparison goes on after the end of its context")
	}
}

func TestCosine(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want float64
	}{
		{"the cat", "The  CAT!", 1},
		{"a b", "c d", 0},
		{"a b", "a c", 0.5},
		{"a a b", "a b b", 0.8},
		{"", "a", 0},
		{" ", " ", 0},
		{"...", "... ", 1},
		{"😂😂", "😂", 0},
	} {
		got, ok := Cosine(features.Spec{}, tc.a, 1e-9)(context.Background(), []byte(tc.b))
		if math.Abs(got-tc.want) > 1e-12 || ok != (tc.want > 0) {
			t.Errorf("%q, %q: %g, %v, want %g", tc.a, tc.b, got, ok, tc.want)
		}
	}
	if _, ok := Cosine(features.Spec{}, "x y z", 1)(context.Background(), []byte("z y x")); !ok {
		t.Error("equal words are not wholly similar")
	}
}
