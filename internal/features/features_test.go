package features

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/simdb/simdb/internal/token"
)

// TestNormalFormsAreFrozen fails with a release of x/text or Go whose normal forms follow another
// version of Unicode: then stored fingerprints would depend on the program.
func TestNormalFormsAreFrozen(t *testing.T) {
	if norm.Version != "15.0.0" {
		t.Errorf("normal forms are those of Unicode %s, docs/format/fingerprints.md says 15.0", norm.Version)
	}
}

var canonical = []struct {
	spec Spec
	text string
}{
	{Spec{}, ""},
	{Spec{Unit: Words, Normalize: None}, ""},
	{Spec{Unit: Chars, MinWords: 3}, "unit chars\nmin-words 3\n"},
	{Spec{Unit: Set}, "unit set\nset-field set\n"},
	{Spec{SetField: "a b"}, "unit set\nset-field a b\n"},
	{Spec{Fields: []Field{{"title", 3}, {"body text", 1}}, StripDiacritics: true, Normalize: NFKC},
		"field 3 title\nfield 1 body text\nnormalize nfkc\nstrip-diacritics\n"},
	{Spec{StopWords: []string{"The of", "OF", "don't"}}, "stop-word don\nstop-word of\nstop-word t\nstop-word the\n"},
}

func TestSpecText(t *testing.T) {
	for _, c := range canonical {
		s, err := c.spec.Canonical()
		if err != nil || s.String() != c.text {
			t.Errorf("%+v: %q, %v; want %q", c.spec, s, err, c.text)
			continue
		}
		p, err := Parse(c.text)
		if err != nil || p.String() != c.text || fmt.Sprintf("%+v", p) != fmt.Sprintf("%+v", s) {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.text, p, err, s)
		}
	}
}

func TestSpecRefuses(t *testing.T) {
	for _, s := range []Spec{
		{Unit: "lines"}, {Normalize: "nfd"}, {MinWords: -1}, {StopWords: []string{}}, {StopWords: []string{"..."}},
		{Unit: Chars, StopWords: []string{"a"}}, {Unit: Chars, SetField: "a"}, {Unit: Set, Fields: []Field{{"a", 1}}},
		{Unit: Set, Normalize: NFC}, {Fields: []Field{{"a", 0}}}, {Fields: []Field{{"a", MaxWeight + 1}}},
		{Fields: []Field{{"", 1}}}, {Fields: []Field{{"a", 1}, {"a", 2}}}, {Fields: []Field{{"a\nb", 1}}},
		{Fields: make([]Field, MaxFields+1)}, {StopWords: []string{strings.Repeat("a", MaxEncoded)}},
	} {
		if c, err := s.Canonical(); err == nil {
			t.Errorf("%+v became %+v", s, c)
		}
	}
	for text, unknown := range map[string]bool{
		"unit bytes\n": true, "weights idf\n": true, "normalize nfd\n": true, "\n": true,
		"unit words\n": true, "unit chars": false, "min-words 0\n": false, "min-words x\n": false, "min-words 1\n": false, "min-words 03\n": false,
		"stop-word the\nstop-word of\n": false, "stop-word The\n": false, "min-words 3\nunit chars\n": false,
		"unit set\n": false, "strip-diacritics \n": false, "field title 3\n": false,
	} {
		s, err := Parse(text)
		if err == nil || errors.Is(err, ErrUnknown) != unknown {
			t.Errorf("Parse(%q) = %+v, %v", text, s, err)
		}
	}
}

// FuzzParse: what is taken is canonical.
func FuzzParse(f *testing.F) {
	for _, c := range canonical {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse(text); err == nil && s.String() != text {
			t.Errorf("Parse(%q) is %q", text, s)
		}
	})
}

func TestOverride(t *testing.T) {
	have := Spec{Unit: Chars, Normalize: NFC, MinWords: 2}
	if got := have.Override(Spec{}); fmt.Sprint(got) != fmt.Sprint(have) {
		t.Errorf("nothing made %+v", got)
	}
	if got := have.Override(Spec{Normalize: None, SetField: "s"}); got.Unit != Set || got.Normalize != None || got.MinWords != 2 {
		t.Errorf("%+v", got)
	}
}

// all is a Sink that takes the set of copies of all features.
type all map[uint64]bool

func (a all) Features(hashes []uint64, weight int) {
	for _, h := range AppendReplicas(nil, hashes, weight) {
		a[h] = true
	}
}

// naive returns the set of copies of the features of a text, as strings.
func naive(s Spec, k int, text string) map[string]bool {
	set, words := map[string]bool{}, 0
	add := func(feature string, weight int) {
		for i := range weight {
			set[fmt.Sprintf("%d %s", i, feature)] = true
		}
	}
	if s.Unit == Set {
		for m := range strings.FieldsSeq(strings.Map(func(r rune) rune {
			if strings.ContainsRune(`[]",`, r) {
				return ' '
			}
			return r
		}, text)) {
			words++
			add(m, 1)
		}
	} else {
		fields, texts := s.Fields, []string{text}
		if fields == nil {
			fields = []Field{{"text", 1}}
		} else {
			texts = strings.SplitN(text, string(rune(Separator)), len(fields))
		}
		for i, text := range texts {
			text = naiveNormal(s, text)
			units := slices.Collect(token.SplitWords(text))
			words += len(units)
			if s.Unit == Chars {
				units = naiveChars(text)
			}
			for at := 0; at == 0 && len(units) > 0 || at+k <= len(units); at++ {
				shingle := units[at:min(at+k, len(units))]
				if s.StopWords == nil || slices.ContainsFunc(shingle, func(w string) bool { return slices.Contains(s.StopWords, w) }) {
					add(strings.Join(shingle, "|"), fields[i].Weight)
				}
			}
		}
	}
	if words < s.MinWords {
		return nil
	}
	return set
}

func naiveChars(text string) (chars []string) {
	joined := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) }), " ")
	for _, r := range joined {
		chars = append(chars, string(unicode.ToLower(r)))
	}
	return chars
}

func naiveNormal(s Spec, text string) string {
	open, form := norm.NFD, norm.NFC
	if s.Normalize == NFKC {
		open, form = norm.NFKD, norm.NFKC
		text = strings.NewReplacer("\u00ad", "", "\u200b", "", "\u200d", "", "\ufeff", "").Replace(text)
	}
	if s.StripDiacritics {
		text = strings.NewReplacer("\u0301", "", "\u0308", "", "\u0306", "").Replace(open.String(text))
	}
	if s.Normalize != "" || s.StripDiacritics {
		text = form.String(text)
	}
	return text
}

// randomText returns a text of few different words, some of them in other writings, so that texts
// have features in common.
func randomText(r *rand.Rand, s Spec) string {
	words := []string{"the", "of", "Café", "cafe\u0301", "ＡＢ", "ab", "ex\u00adample", "example", "й", "一二", "x", "Ünder", "under", "17", "a\u200bb", "fin", "ﬁn"}
	var b strings.Builder
	for range r.IntN(25) {
		b.WriteString(words[r.IntN(len(words))])
		separators := []string{" ", "\n", ", ", " -- ", string(rune(Separator))}
		if s.Unit == Set {
			separators = separators[:2]
		}
		b.WriteString(separators[r.IntN(len(separators))])
	}
	if s.Unit == Set && r.IntN(2) == 0 {
		return SetText(strings.Fields(b.String())...)
	}
	return b.String()
}

// TestWalker compares features with those that strings make: for any two texts, sizes and common
// parts of their sets are the same.
func TestWalker(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 15))
	for _, c := range []struct {
		k    int
		spec Spec
	}{
		{3, Spec{}}, {1, Spec{}}, {5, Spec{Unit: Chars}}, {2, Spec{Unit: Chars, Normalize: NFKC, MinWords: 3}}, {1, Spec{Unit: Set}},
		{1, Spec{Unit: Set, MinWords: 4}}, {2, Spec{Fields: []Field{{"a", 3}, {"b", 1}}}}, {2, Spec{Fields: []Field{{"a", 1}, {"b", 5}, {"c", 2}}, MinWords: 5}},
		{3, Spec{StopWords: []string{"the of"}}}, {2, Spec{StopWords: []string{"café"}, Normalize: NFC}},
		{1, Spec{Normalize: NFC}}, {2, Spec{Normalize: NFKC}}, {2, Spec{Normalize: NFKC, StripDiacritics: true}}, {2, Spec{StripDiacritics: true}},
		{5, Spec{Unit: Chars, Fields: []Field{{"a", 2}, {"b", 1}}}}, {3, Spec{MinWords: 6}},
	} {
		s, err := c.spec.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		w := NewWalker(s, c.k, 0)
		var before all
		var beforeNaive map[string]bool
		for range 400 {
			text := randomText(rng, s)
			got, want := all{}, naive(s, c.k, text)
			if _, enough := w.Walk([]byte(text), got); !enough {
				got = nil
			}
			common, wantCommon := 0, 0
			for h := range got {
				if before[h] {
					common++
				}
			}
			for f := range want {
				if beforeNaive[f] {
					wantCommon++
				}
			}
			if len(got) != len(want) || common != wantCommon {
				t.Fatalf("%+v, k = %d: %q has %d features, %d of them common; want %d, %d", s, c.k, text, len(got), common, len(want), wantCommon)
			}
			before, beforeNaive = got, want
		}
	}
}

func TestMembers(t *testing.T) {
	for text, want := range map[string]string{
		`["a","b c","",1,"1",null,{"x": [2]},"\u0041\n"]`: `a|b c|1|1|null|{"x": [2]}|` + "A\n",
		`  [ "a" , "b" ] `: "a|b", "a  b\tc\n": "a|b|c", "": "", "[]": "", `["a"`: `["a"`, "[a]": "[a]",
	} {
		var got []string
		Members([]byte(text), func(m []byte) { got = append(got, string(m)) })
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %s", text, got, want)
		}
	}
	if got := SetText("a", `"<b>`); got != `["a","\"<b>"]` {
		t.Error(got)
	}
	if got := SetText(); got != "[]" {
		t.Error(got)
	}
	if got := JoinFields("a", "b\x1fc", ""); got != "a\x1fb c\x1f" {
		t.Errorf("%q", got)
	}
}
