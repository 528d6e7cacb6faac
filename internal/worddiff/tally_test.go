package worddiff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/features"
)

// joined returns words without the marks of gaps, which differences may have or not.
func joined(words string) string { return strings.ReplaceAll(words, "… ", "") }

// TestTally compares counts with those of alignments of whole texts. Each pair differs in two places
// at most, between words that are unique, so that there is one shortest alignment.
func TestTally(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, spec := range []features.Spec{{}, {Symbols: true}, {Fold: []string{"accents"}}} {
		spec, err := spec.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		tally, counts, pairs, long := NewTally(spec), map[[2]string]int64{}, int64(0), int64(0)
		for range 2000 {
			a := make([]string, 1+r.IntN(30))
			for i := range a {
				a[i] = fmt.Sprintf("Wört%d%s", i, []string{"", ",", "."}[r.IntN(3)])
			}
			b := slices.Clone(a)
			for range r.IntN(3) {
				switch i := r.IntN(len(b)); r.IntN(3) {
				case 0:
					b = slices.Insert(b, i, []string{"sequela", "left", "right side"}[r.IntN(3)])
				case 1:
					b[i] = "other"
				case 2:
					b = slices.Delete(b, i, min(len(b), i+r.IntN(20)))
				}
				if len(b) == 0 {
					b = []string{"nothing"}
				}
				if r.IntN(100) == 0 {
					b[0] = strings.TrimSpace(mark)
				}
			}
			x, y := strings.Join(a, " "), strings.Join(b, " ")
			if r.IntN(2) == 0 {
				x, y = y, x
			}
			tally.Add(x, y)
			runs, _ := Runs(spec.Words(x), spec.Words(y), MaxEdits)
			edits := 0
			for _, e := range runs {
				edits += e.A1 - e.A0 + e.B1 - e.B0
			}
			lacks, adds := Words(spec.Words(x), spec.Words(y))
			pairs++
			if edits > maxWords {
				long++
			} else if edits > 0 {
				counts[[2]string{joined(lacks), joined(adds)}]++
			}
		}
		want, inAll := map[Recurring]bool{}, int64(0)
		for words, n := range counts {
			if n >= 3 {
				want[Recurring{words[0], words[1], n}] = true
				inAll += n
			}
		}
		all, in, exact := tally.Recurring(3, 1<<20)
		if tally.Pairs != pairs || tally.Long != long || !exact || in != inAll || len(all) != len(want) || len(all) < 20 {
			t.Errorf("%+v: %d pairs (want %d), %d long (want %d), exact %v, %d in %d (want %d in %d)", spec, tally.Pairs, pairs, tally.Long, long, exact, in, len(all), inAll, len(want))
		}
		for i, d := range all {
			if d.Lacks, d.Adds = joined(d.Lacks), joined(d.Adds); !want[d] || i > 0 && d.Count > all[i-1].Count {
				t.Errorf("%+v: %v", spec, d)
			}
		}
	}
}

// TestTallyForgets counts more kinds of differences than a Tally remembers: frequent ones stay, and
// counts are lower bounds.
func TestTallyForgets(t *testing.T) {
	tally := NewTally(features.Spec{})
	for i := range 2 * maxKinds {
		tally.Add("same words here", fmt.Sprintf("same words %d", i))
		if i%10 == 0 {
			tally.Add("same words here", "same words there")
		}
	}
	all, in, exact := tally.Recurring(3, 5)
	want := int64((2*maxKinds + 9) / 10)
	if len(tally.kinds) > maxKinds || exact || len(all) != 1 || all[0].Adds != "there" || in != all[0].Count || in > want || in < want-tally.floor {
		t.Errorf("%d kinds, exact %v: %v, %d in all of %d", len(tally.kinds), exact, all, in, want)
	}
}

// TestTallyLong does not count differences that are far apart.
func TestTallyLong(t *testing.T) {
	tally, middle := NewTally(features.Spec{}), strings.Repeat(" word", maxMiddle)
	tally.Add("one"+middle+" two", "two"+middle+" one")
	tally.Add("one"+middle+" two", "one"+middle+" TWO!")
	tally.Add("one"+middle+" two"+middle, "one"+middle+" three"+middle)
	if tally.Recurring(2, 1); tally.Long != 1 || tally.Alike != 1 || len(tally.kinds) != 1 {
		t.Errorf("%d long, %d alike, %d kinds", tally.Long, tally.Alike, len(tally.kinds))
	}
}

func TestWords(t *testing.T) {
	many := strings.Repeat("x ", MaxEdits)
	for _, tc := range []struct{ a, b, lacks, adds string }{
		{"The quick brown fox", "the QUICK, brown fox!", "", ""},
		{"a b c d e", "a c d f e g", "b", "f … g"},
		{"a b c d", "c d", "a b", ""},
		{"", "x y", "", "x y"},
		{"1 2 3", "3 2 1", "1 2", "2 1"},
		{many + "a b a", "b c " + strings.Repeat("y ", MaxEdits), "x" + strings.Repeat(" x", 99) + "…", "c" + strings.Repeat(" y", 99) + "…"},
		{strings.Repeat("é", 300), "", strings.Repeat("é", 199) + "…", ""},
	} {
		lacks, adds := Words(wordsOf(tc.a), wordsOf(tc.b))
		if lacks != tc.lacks || adds != tc.adds {
			t.Errorf("%.30q and %.30q: lacks %q, adds %q", tc.a, tc.b, lacks, adds)
		}
		if utf8.RuneCountInString(lacks) > ShownChars || utf8.RuneCountInString(adds) > ShownChars {
			t.Errorf("%.30q and %.30q: too long", tc.a, tc.b)
		}
	}
}
