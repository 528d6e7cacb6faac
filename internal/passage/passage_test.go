package passage

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/features"
)

// fieldsAt returns the words of a text of ASCII letters, and their positions. "" separates two
// fields.
func fieldsAt(text string) (words []string, at []place) {
	for i := 0; i < len(text); i++ {
		start := i
		for i < len(text) && text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z' {
			i++
		}
		if i > start {
			words, at = append(words, strings.ToLower(text[start:i])), append(at, place{start, i})
		}
		if i < len(text) && text[i] == features.Separator {
			words, at = append(words, ""), append(at, place{i, i + 1})
		}
	}
	return words, at
}

// firstIn returns the first position of a stretch of words in all.
func firstIn(all, stretch []string) int {
	for i := 0; i+len(stretch) <= len(all); i++ {
		if slices.Equal(all[i:i+len(stretch)], stretch) && !slices.Contains(stretch, "") {
			return i
		}
	}
	return -1
}

// brute finds runs by comparing every stretch of the text with every position of the query.
func brute(query, text string, least int) (runs []Run) {
	q, qat := fieldsAt(query)
	w, at := fieldsAt(text)
	last := 0 // end of the last run
	for s := range w {
		e := s
		for e < len(w) && firstIn(q, w[s:e+1]) >= 0 {
			e++
		}
		if e-s >= least && e > last { // otherwise it is part of the previous run
			i := firstIn(q, w[s:e])
			runs = append(runs, Run{e - s, at[s].at, at[e-1].end, qat[i].at, qat[i+e-s-1].end})
		}
		last = max(last, e)
	}
	return runs
}

func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 3))
	spec := features.Spec{Fields: []features.Field{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}, {Name: "c", Weight: 1}}}
	found := 0
	for i := range 10000 {
		letters := "abcdefghijklmnop"[:1+r.IntN(6)]
		random := func(most int) string {
			var b strings.Builder
			fields := 1
			for range r.IntN(most) {
				b.WriteString([]string{" ", "\n", " "}[r.IntN(3)])
				if fields < 3 && r.IntN(8) == 0 {
					b.WriteByte(features.Separator)
					fields++
				}
				word := letters[r.IntN(len(letters)):][:1]
				b.WriteString([]string{word, strings.ToUpper(word), word + ", --"}[r.IntN(3)])
			}
			return b.String()
		}
		least, query := 1+r.IntN(5), random(30)
		f := New(spec, least, []byte(query))
		for range 3 { // the second round has the remains of the first
			text := random(40)
			got, want := f.Runs([]byte(text), math.MaxInt), brute(query, text, least)
			if !slices.Equal(got, want) {
				t.Fatalf("case %d: %q in %q, %d words and more:\n%v, want\n%v", i, text, query, least, got, want)
			}
			found += min(len(got), 1)
		}
	}
	if found < 3000 {
		t.Errorf("%d texts with runs", found)
	}
}

// A text without words has no run, although it may have shingles of one word; symbols can be words.
func TestRunsWithoutWords(t *testing.T) {
	fields := features.Spec{Fields: []features.Field{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}}
	for _, test := range []struct {
		spec        features.Spec
		query, text string
		want        int
	}{
		{features.Spec{}, "...", "...", 0},
		{features.Spec{}, " ☀ ", "☀", 0},
		{features.Spec{}, "...", "a ... b", 0},
		{features.Spec{}, "a ...", "a", 1},
		{features.Spec{Symbols: true}, "...", "a ... b", 1},
		{fields, "...\x1fa", "...\x1fb", 0},
		{fields, "...\x1fa", "...\x1fa", 1},
		{fields, "a\x1f...", "...\x1fa", 1},
	} {
		spec, err := test.spec.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		runs := New(spec, 1, []byte(test.query)).Runs([]byte(test.text), 9)
		if len(runs) != test.want || test.want == 1 && runs[0].Words != 1 {
			t.Errorf("%q in %q: %v", test.query, test.text, runs)
		}
	}
}

// Compares each licence with some others, by brute force, too.
func TestRunsOfLicences(t *testing.T) {
	var texts []string
	for _, d := range corpora.Docs(t, "../../examples/licenses.jsonl.gz") {
		// brute only knows words of letters.
		letters := func(r rune) rune {
			if r >= '0' && r <= '9' || r > 127 || r == features.Separator {
				return 'z'
			}
			return r
		}
		if len(d.Text) < 3000 {
			texts = append(texts, strings.Map(letters, d.Text))
		}
	}
	runs := 0
	for i := 0; i < len(texts); i += 23 {
		f := New(features.Spec{}, 8, []byte(texts[i]))
		for j := 0; j < len(texts); j += 11 {
			got, want := f.Runs([]byte(texts[j]), math.MaxInt), brute(texts[i], texts[j], 8)
			if !slices.Equal(got, want) {
				t.Fatalf("%d in %d:\n%v, want\n%v", j, i, got, want)
			}
			runs += len(got)
		}
	}
	if runs < 100 {
		t.Errorf("%d runs", runs)
	}
}

// Repeated words need linear time, and memory for as many runs as positions.
func TestRunsOfOneWord(t *testing.T) {
	const many = 100_000
	text := strings.Repeat("word ", many)
	f := New(features.Spec{}, 8, []byte(text))
	if got, want := f.Runs([]byte(text), math.MaxInt), []Run{{many, 0, 5*many - 1, 0, 5*many - 1}}; !slices.Equal(got, want) {
		t.Errorf("%d runs of equal texts, the first is %v", len(got), got[0])
	}
	if got := New(features.Spec{}, 8, []byte(text[:5*20])).Runs([]byte(text), math.MaxInt); len(got) != many-20+1 || got[7] != (Run{20, 5 * 7, 5*27 - 1, 0, 99}) {
		t.Errorf("%d runs of a short text in a long one", len(got))
	}
	if got, want := f.Runs([]byte("a "+text[:5*20]+"b"), math.MaxInt), []Run{{20, 2, 101, 0, 99}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	two := strings.Repeat("one two ", many/2)
	if got := New(features.Spec{}, 8, []byte(two)).Runs([]byte(strings.Repeat("two one ", many/2)), math.MaxInt); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// Words have the normal form of features, and positions refer to the original texts.
func TestRunsOfFeatures(t *testing.T) {
	spec := features.Spec{Fold: []string{"width", "accents"}, Mask: []string{features.MaskNumbers}, StopWords: []string{"the"}}
	query, text := "Pay 12.50 for the soft\u00adware, Zoë!", "please PAY 9 for ｓoftware zoe"
	got := New(spec, 5, []byte(query)).Runs([]byte(text), math.MaxInt)
	if want := []Run{{5, 7, len(text), 0, len(query) - 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, c := range []struct {
		spec  features.Spec
		least int
		query string
		text  string
		want  int
	}{
		{features.Spec{Symbols: true}, 3, "x == y", "if x == y", 1},
		{features.Spec{Symbols: true}, 3, "x == y", "if x != y", 0},
		{features.Spec{Unit: features.Chars}, 2, "x y", "a x y", 1},
		{features.Spec{}, 3, "x y", "a x y", 0},
		{features.Spec{}, 1, "", "a", 0},
		{features.Spec{}, 1, "--", " -- ", 0},
		{features.Spec{}, 100_000, strings.Repeat("a ", 100_000), strings.Repeat("a ", 100_001), 2},
		{features.Spec{}, 100_000, strings.Repeat("a ", 100_000), strings.Repeat("a ", 99_999), 0},
	} {
		if got := New(c.spec, c.least, []byte(c.query)).Runs([]byte(c.text), math.MaxInt); len(got) != c.want {
			t.Errorf("%.20q in %.20q: %v", c.query, c.text, got)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	words := make([]string, 20000)
	for i := range words {
		for range 2 + r.IntN(8) {
			words[i] += string(rune('a' + r.IntN(26)))
		}
	}
	for range 250 {
		text.WriteString(words[r.IntN(len(words))] + " ")
	}
	for name, query := range map[string]string{
		"short": "permission is hereby granted free of charge to any person obtaining a copy of this software",
		"long":  strings.Repeat(strings.Join(words, " "), 5),
	} {
		b.Run(name, func(b *testing.B) {
			f, t := New(features.Spec{}, 8, []byte(query)), []byte(text.String())
			b.SetBytes(int64(len(t)))
			for b.Loop() {
				if f.Runs(t, math.MaxInt) != nil {
					b.Fatal("a run")
				}
			}
		})
	}
	b.Run("hit", func(b *testing.B) {
		t := []byte(text.String())
		f := New(features.Spec{}, 8, t)
		b.SetBytes(int64(len(t)))
		for b.Loop() {
			if len(f.Runs(t, math.MaxInt)) != 1 {
				b.Fatal("no run")
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			f := New(features.Spec{}, 8, []byte(text.String()))
			newAutomaton(f.words)
		}
	})
}
