package features

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// cut returns the words of a Cutter and the corresponding bytes of text. A field boundary is the
// word "|".
func cut(c *Cutter, text string) (words, at []string) {
	c.Words([]byte(text), func(word []byte, start, end int) {
		if word == nil {
			word = []byte("|")
		}
		words, at = append(words, string(word)), append(at, text[start:end])
	})
	return words, at
}

func TestCutterPlaces(t *testing.T) {
	for _, c := range []struct {
		spec            Spec
		text, words, at string
	}{
		{Spec{}, "Häuser, x=1!", "häuser x 1", "Häuser x 1"},
		{Spec{}, " -- ", "--", "--"},
		{Spec{Symbols: true}, "x == Y", "x == y", "x == Y"},
		{Spec{Fold: []string{"nfc"}}, "(e\u0301te\u0301) é", "été é", "e\u0301te\u0301 é"},
		{Spec{Fold: []string{"width"}}, "soft\u00adhy\u00adphen, ﬁne ㎏", "softhyphen fine kg", "soft\u00adhy\u00adphen ﬁne ㎏"},
		{Spec{Fold: []string{"width"}}, "a½b", "a1 2b", "a½ ½b"},
		{Spec{Fold: []string{"width"}}, "汉字，ＡＢ", "汉 字 ab", "汉 字 ＡＢ"},
		{Spec{Fold: []string{"accents"}}, "L'Été, Straße", "l ete strasse", "L Été Straße"},
		{Spec{Mask: []string{MaskNumbers}}, "took 12.5 ms", "took ˍ ms", "took 12.5 ms"},
		{Spec{Mask: []string{MaskDates, "[a-z]+[0-9]"}, Fold: []string{"accents"}}, "é 2024-01-02 x7!", "e ˍ ˍ", "é 2024-01-02 x7"},
		{Spec{StopWords: []string{"and"}}, "Taylor AND Francis", "taylor francis", "Taylor Francis"},
		{Spec{StopWords: []string{"and"}}, "and AND", "and and", "and AND"},
		{Spec{Fields: []Field{{"a", 1}, {"b", 2}}}, "x y\x1fz\x1fw", "x y | z w", "x y \x1f z w"},
	} {
		words, at := cut(NewCutter(c.spec), c.text)
		if got := strings.Join(words, " "); got != c.words {
			t.Errorf("%q has the words %q, want %q", c.text, got, c.words)
		}
		if got := strings.Join(at, " "); got != c.at {
			t.Errorf("%q has them at %q, want %q", c.text, got, c.at)
		}
	}
}

// The words are those of shingles of the normalised text, and their positions are ascending.
func TestCutterWords(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 2))
	pieces := []string{
		"a", "B", "é", "e\u0301", "\u0301", "\u0308", "\u00ad", "\u200b", "ﬁ", "½", "㎏", "¨", " ", " ", "\n", "汉", "ก็", "가", "ᄀ", "ᅡ", "ᆨ",
		"Å", "ß", "ł", "12", ".", "x1", "2024-01-02", "\xff", "\xc3", "Ⅷ", "!", "\u0344", "\ufeff", "the", "ｶﾞ", "\x1f",
	}
	specs := []Spec{
		{}, {Symbols: true}, {Fold: []string{"nfc"}}, {Fold: []string{"width"}}, {Fold: []string{"accents"}}, {Fold: []string{"width", "accents"}, Symbols: true},
		{Mask: []string{MaskNumbers, MaskDates}}, {Mask: []string{"a.", "1"}, Fold: []string{"width"}}, {StopWords: []string{"a", "the"}, Fold: []string{"accents"}},
	}
	for i := range 20000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String()
		spec, err := specs[i%len(specs)].Canonical()
		if err != nil {
			t.Fatal(err)
		}
		c := NewCutter(spec)
		words, _ := cut(c, text)
		if want := spec.Words(text); !slices.Equal(words, want) {
			t.Fatalf("%v: %q has the words %q, want %q", spec, text, words, want)
		}
		if want := slices.Collect(spec.Rules().Split(string(c.Normal([]byte(text))))); !slices.Equal(words, want) {
			t.Fatalf("%v: %q has the words %q, in its normal form %q", spec, text, words, want)
		}
		first, last := 0, 0
		c.Words([]byte(text), func(word []byte, start, end int) {
			if start < first || end < last || start >= end || end > len(text) {
				t.Fatalf("%v: %q has %q at %d..%d, after %d..%d", spec, text, word, start, end, first, last)
			}
			if first, last = start, end; spec.Rules().Fold(text[start:end]) != string(word) && spec.Fold == nil && spec.Mask == nil {
				t.Fatalf("%v: %q has %q at %d..%d", spec, text, word, start, end)
			}
			if alone := c.Normal(bytes.Clone([]byte(text[start:end]))); len(alone) == 0 {
				t.Fatalf("%v: nothing at %d..%d of %q", spec, start, end, text)
			}
		})
	}
}
