package tuning

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/simdb/simdb/dedup/tune"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
)

// add adds a document to a report, with its matches, which include the document itself.
func add(r *Report, id string, matches ...tune.Match) {
	itself := tune.Match{ID: id, Score: -1}
	if r.Scored {
		itself.Score = 1
	}
	n := r.Add(id, "", 1, r.Scored)
	for _, m := range append(matches, itself) {
		r.Found(n, m)
	}
}

// sample returns a report on random matches, and all of its pairs.
func sample(scored bool) (*Report, map[tune.Pair]bool) {
	r := rand.New(rand.NewPCG(31, 32))
	report := &Report{
		Report: &tune.Report{Documents: 500, Scored: scored}, Name: "a <b>\u202e",
		Command: func(t string) string { return "simdb dedup 'a <b>' " + t },
	}
	pairs := map[tune.Pair]bool{}
	for n := range 300 {
		var matches []tune.Match
		for range r.IntN(6) {
			m := tune.Match{ID: fmt.Sprint("m", r.IntN(1000)), Distance: r.IntN(20) - 1, Score: float64(r.IntN(1001)) / 1000}
			if m.Distance > tune.MaxDistance {
				m.Distance = -1
			}
			if m.Score < tune.MinScore {
				m.Score = -1
			}
			matches = append(matches, m)
			id := fmt.Sprint("d", n)
			pairs[tune.Pair{A: min(id, m.ID), B: max(id, m.ID), Score: m.Score, Distance: m.Distance}] = true
		}
		add(report, fmt.Sprint("d", n), matches...)
	}
	return report, pairs
}

// TestWidth checks that no line is wider than the terminal, and that colours appear only on
// request.
func TestWidth(t *testing.T) {
	for _, scored := range []bool{true, false} {
		r, _ := sample(scored)
		pairs := r.Boundary(3)
		for i, p := range pairs {
			p.TextA, p.TextB = strings.Repeat("same 一二 ", 30)+"a", strings.Repeat("same 一二 ", 30)+fmt.Sprint(i, strings.Repeat("一", 200))
		}
		for _, width := range []int{60, 80, 200} {
			for _, color := range []bool{true, false} {
				var b strings.Builder
				if err := r.WriteText(&b, Chart{Width: width, Color: color, Clean: func(s string) string { return s }, K: 3}, pairs); err != nil {
					t.Fatal(err)
				}
				text := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(b.String(), "")
				if color == (text == b.String()) {
					t.Errorf("colour %v: %q", color, b.String()[:200])
				}
				for line := range strings.SplitSeq(text, "\n") {
					if runewidth.StringWidth(line) > width {
						t.Errorf("%d columns of %d: %s", runewidth.StringWidth(line), width, line)
					}
				}
			}
		}
	}
}

// TestPage checks that texts of the corpus are not markup.
func TestPage(t *testing.T) {
	for _, scored := range []bool{true, false} {
		r, _ := sample(scored)
		pairs := r.Boundary(3)
		for _, p := range pairs {
			p.A, p.TextA, p.TextB = `"><script>alert(1)</script>`, "</pre><script>alert(2)</script>\u202e<!--", "{{.}}' onload='x"
		}
		var b strings.Builder
		if err := r.WritePage(&b, 3, pairs); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if strings.Count(page, "<script") != 1 || strings.Contains(page, "<!--") || strings.Contains(page, "onload='x") || strings.Contains(page, "a <b>") {
			t.Error("a text of the corpus is markup")
		}
		if n := strings.Count(page, "&lt;/pre&gt;"); n != len(pairs) || n == 0 {
			t.Errorf("%d texts of %d pairs", n, len(pairs))
		}
		if strings.Contains(page, "http:") || strings.Contains(page, "https:") || strings.Contains(page, "ZgotmplZ") {
			t.Error("the page is not of its own")
		}
	}
}

// TestSizes checks the estimated sizes of clusters against the pairs, and their chart. Bars of
// distances show the pairs at each distance, and have another colour where chance explains as many.
func TestSizes(t *testing.T) {
	for _, scored := range []bool{true, false} {
		r, pairs := sample(scored)
		degrees := map[string]int64{}
		at := map[int]float64{}
		for p := range pairs {
			at[p.Distance]++
			if scored && p.Score >= r.Threshold() || !scored && p.Distance >= 0 && p.Distance <= 7 {
				if strings.HasPrefix(p.A, "d") {
					degrees[p.A]++
				} else {
					degrees[p.B]++
				}
			}
		}
		want := map[int64]float64{}
		for _, n := range degrees {
			want[n+1] += 1 / float64(n+1) * 500 / 300
		}
		got := r.Sizes(7)
		for size := range want {
			if math.Abs(got[size]-want[size]) > 1e-9 || len(got) != len(want) {
				t.Errorf("scored %v: %g clusters of %d documents, want %g", scored, got[size], size, want[size])
			}
		}
		plots := r.plots(7)
		if last := plots[len(plots)-1]; len(last.Dots) != len(want) || len(plots) != map[bool]int{true: 4, false: 3}[scored] {
			t.Errorf("%d charts, %d sizes", len(plots), len(last.Dots))
		}
		bars := plots[len(plots)-3].Bars
		for d := range tune.MaxDistance + 1 {
			ways := new(big.Float).SetInt(new(big.Int).Binomial(64, int64(d)))
			chance, _ := ways.Mul(ways, big.NewFloat(math.Ldexp(500*499/2, -64))).Float64()
			want := at[d] / 2 * 500 / 300
			if bars[d].Value != want || (bars[d].Class == "chance") != (2*chance >= want) {
				t.Errorf("%d bits: %+v, want %g pairs, %g by chance", d, bars[d], want, chance)
			}
		}
	}
}

// TestNothing writes a report without any match.
func TestNothing(t *testing.T) {
	r := &Report{Report: &tune.Report{Scored: true}, Command: func(string) string { return "" }}
	add(r, "a")
	var b strings.Builder
	if err := r.WriteText(&b, Chart{Clean: func(s string) string { return s }}, r.Boundary(0)); err != nil || strings.Contains(b.String(), "NaN") {
		t.Error(err, b.String())
	}
	if k := (&tune.Report{Documents: 1e9}).Distance(); k != 0 {
		t.Error(k)
	}
}

// TestTemplate computes the share of common shingles: 7 of the 13 shingles of each page, but those of few
// pages and of a small sample do not count.
func TestTemplate(t *testing.T) {
	for _, tc := range []struct {
		pages, other int
		want         float64
	}{{600, 0, 7. / 13}, {300, 300, 7. / 26}, {6, 594, 0}, {400, 0, 0}} {
		r := &tune.Report{Scored: true}
		for i := range tc.pages + tc.other {
			text := fmt.Sprintf("p%[1]d q%[1]d r%[1]d s%[1]d t%[1]d u%[1]d ", i)
			if i < tc.pages {
				text += "all rights reserved by the publisher of these pages"
			} else {
				text += fmt.Sprintf("v%[1]d w%[1]d x%[1]d", i)
			}
			r.Nodes = append(r.Nodes, tune.Node{Doc: engine.Doc{Text: text}, Count: 1})
		}
		if got := common(features.Params{Shingle: 3}, r); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%d pages and %d others: %v, want %v", tc.pages, tc.other, got, tc.want)
		}
	}
}
