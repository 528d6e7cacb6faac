package units

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/token"
)

// naive splits a text with a regular expression into the texts of its units.
func naive(text string, level Level) (all []string) {
	if level == Line {
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimRight(line, "\r"); strings.TrimSpace(line) != "" {
				all = append(all, line)
			}
		}
		return all
	}
	for _, p := range regexp.MustCompile(`\n([\s\x{a0}]*\n)+`).Split("\n\n"+text+"\n\n", -1) {
		if p = strings.Trim(p, "\r\n"); strings.TrimSpace(p) != "" {
			all = append(all, p)
		}
	}
	return all
}

// randomText returns a text of few different lines.
func randomText(r *rand.Rand) string {
	pieces := []string{"Terms of use", "terms  of\tUSE ", "one line of text", "a", "  Ärger und ÄRGER", "\u00a0", " ", "", "一二三四", "b c d"}
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(pieces[r.IntN(len(pieces))])
		b.WriteString([]string{"\n", "\n", "\r\n", "\n\n", ""}[r.IntN(5)])
	}
	return b.String()
}

func TestSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		text := randomText(r)
		for _, level := range []Level{Line, Paragraph} {
			var got []string
			for _, s := range Split(nil, text, level) {
				got = append(got, text[s.From:s.To])
			}
			if want := naive(text, level); !slices.Equal(got, want) {
				t.Fatalf("%s of %q: %q, want %q", level, text, got, want)
			}
		}
	}
}

// TestKeep removes units: the others stay, in order, nothing is added, and separate paragraphs
// remain separate.
func TestKeep(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		text := randomText(r)
		for _, level := range []Level{Line, Paragraph} {
			all := Split(nil, text, level)
			var removed []Removed
			var want []string
			for n, s := range all {
				last := len(removed) - 1
				switch {
				case r.IntN(3) > 0:
					want = append(want, text[s.From:s.To])
				case last >= 0 && int(removed[last].To) == n && r.IntN(2) == 0:
					removed[last].To++
				default:
					removed = append(removed, Removed{From: uint32(n), To: uint32(n) + 1})
				}
			}
			var b strings.Builder
			end := 0
			for _, s := range Keep(text, all, removed, nil) {
				if s.From < end || s.From >= s.To {
					t.Fatalf("%q: parts out of order: %v", text, s)
				}
				b.WriteString(text[s.From:s.To])
				end = s.To
			}
			got := b.String()
			if len(removed) == 0 && len(all) > 0 && got != text {
				t.Fatalf("%q without nothing is %q", text, got)
			}
			if units := naive(got, level); !slices.Equal(units, want) {
				t.Fatalf("%s: %q without %v is %q", level, text, removed, got)
			}
			if level == Line && len(want) > 0 && len(naive(got, Paragraph)) < paragraphsLeft(text, all, removed) {
				t.Fatalf("%q without %v is %q: paragraphs were joined", text, removed, got)
			}
		}
	}
	if got := Keep("a\n\nb\nc", Split(nil, "a\n\nb\nc", Line), []Removed{{From: 1, To: 2}}, nil); len(got) != 2 || got[0] != (Span{0, 3}) {
		t.Errorf("the blank line does not stay: %v", got)
	}
}

// TestKeepWords removes words from texts in many scripts: the remaining text has exactly the
// other words, in order.
func TestKeepWords(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pieces := []string{
		"Python", "a", "9", "é", "e\u0301", "Ж", "我", "们", "ル", "ト\u3099", "ก็", "က", "x86", "ﬁ", "한글", "ß",
		"", "", " ", "  ", "\n", ", ", "-", "。", "\u00ad", "\u200b", "==", "(", ")",
	}
	specs := []features.Spec{{}, {Symbols: true}, {Fold: []string{"width"}}, {Fold: []string{"accents"}, Symbols: true}}
	spaces := 0
	for i := range 20000 {
		spec := must.Get(specs[i%len(specs)].Canonical())(t)
		words := Options{Level: Passage, Spec: spec}.Splitter()
		var text string
		for range 1 + r.IntN(14) {
			text += pieces[r.IntN(len(pieces))]
		}
		var removed []Removed
		var want, got []string
		all := words(nil, text)
		for n, s := range all {
			switch last := len(removed) - 1; {
			case r.IntN(2) > 0:
				want = append(want, text[s.From:s.To])
			case last >= 0 && int(removed[last].To) == n:
				removed[last].To++
			default:
				removed = append(removed, Removed{From: uint32(n), To: uint32(n) + 1})
			}
		}
		rest := ""
		for _, s := range Keep(text, all, removed, words) {
			if rest += text[s.From:s.To]; s.From == s.To {
				rest += " "
				spaces++
			}
		}
		for _, s := range words(nil, rest) {
			got = append(got, rest[s.From:s.To])
		}
		if len(removed) == 0 && len(all) > 0 && rest != text {
			t.Fatalf("%q without nothing is %q", text, rest)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: %q without %v is %q: words %q, want %q", spec, text, removed, rest, got, want)
		}
	}
	if spaces < 100 {
		t.Errorf("a space was put in %d times", spaces)
	}
}

// paragraphsLeft counts the paragraphs of a text with a line that is not removed.
func paragraphsLeft(text string, lines []Span, removed []Removed) (n int) {
	for _, p := range Split(nil, text, Paragraph) {
		left := func(i int) bool {
			return !slices.ContainsFunc(removed, func(r Removed) bool { return int(r.From) <= i && i < int(r.To) })
		}
		for i, l := range lines {
			if l.From >= p.From && l.To <= p.To && left(i) {
				n++
				break
			}
		}
	}
	return n
}

// unit is a unit of a model with its comparison key, "" if it is not compared.
type unit struct {
	key string
	at  Place
}

// model returns the repeats of units, one by one, if the documents before known are known; with only, other units stay.
func model(all []unit, least, known int, only bool) (want []Repeat) {
	count, first := map[string]int{}, map[string]Place{}
	for _, u := range all {
		if count[u.key]++; count[u.key] == 1 {
			first[u.key] = u.at
		}
	}
	for _, u := range all {
		f := first[u.key]
		if u.key != "" && f != u.at && int(u.at.Doc()) >= known && (count[u.key] >= least && !only || int(f.Doc()) < known) {
			want = append(want, Repeat{At: u.at, First: f, N: 1})
		}
	}
	return want
}

// repeats returns the repeats that Repeats finds in documents.
func repeats(t *testing.T, docs []string, o Options, memory int64, least, known int, only bool) (got []Repeat) {
	t.Helper()
	all := NewRepeats(memory, func() (*os.File, error) { return os.CreateTemp(t.TempDir(), "") }, least)
	all.Know(int64(known), only)
	passes := []*Repeats{all}
	if o.Level == Passage {
		o.Anchors = NewAnchors(memory / 4)
		passes = []*Repeats{nil, all}
	}
	for _, to := range passes {
		x := NewExtractor(context.Background(), o, to)
		for _, text := range docs {
			must.Do(t, x.Add(text))
		}
		must.Do(t, x.Finish())
		x.Stop()
	}
	must.Do(t, all.Find(context.Background()))
	for rep, err := range all.All() {
		must.Do(t, err)
		got = append(got, rep)
	}
	if err := all.Close(); err != nil {
		t.Error(err)
	}
	return got
}

func single(all []Repeat) (each []Repeat) {
	for _, r := range all {
		for i := range r.N {
			each = append(each, Repeat{At: r.At + Place(i), First: r.First + Place(i), N: 1})
		}
	}
	return each
}

// TestRepeats compares the repeats of random documents with a map of texts, with much memory and
// with hardly any.
func TestRepeats(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 60 {
		docs := make([]string, r.IntN(200))
		for i := range docs {
			docs[i] = randomText(r)
		}
		o := Options{Level: []Level{Line, Paragraph}[round%2], MinWords: round % 4}
		least, known := 2+round%3, max(0, round-30)
		var all []unit
		for d, text := range docs {
			for n, s := range naive(text, o.Level) {
				u := unit{at: At(uint32(d), uint32(n))}
				if (token.Rules{}).Count([]byte(s), math.MaxInt) >= o.MinWords {
					u.key = " " + strings.ToLower(strings.Join(strings.Fields(s), " "))
				}
				all = append(all, u)
			}
		}
		only := least == 2 && round%4 == 3
		want := model(all, least, known, only)
		for _, memory := range []int64{1 << 20, 2000} {
			if got := single(repeats(t, docs, o, memory, least, known, only)); !slices.Equal(got, want) {
				t.Fatalf("round %d, %d bytes: %d repeats, want %d", round, memory, len(got), len(want))
			}
		}
	}
}
