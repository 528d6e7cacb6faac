package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// add adds a document to a report, with its matches, including itself.
func add(r *Report, id string, matches ...Match) {
	itself := Match{ID: id, Score: -1}
	if r.Scored {
		itself.Score = 1
	}
	n := r.Add(id, "", 1, r.Scored)
	for _, m := range append(matches, itself) {
		r.Found(n, m)
	}
}

// sample returns a report on random matches, and all its pairs.
func sample(scored bool) (*Report, map[Pair]bool) {
	r := rand.New(rand.NewPCG(31, 32))
	report := &Report{Documents: 500, Scored: scored}
	pairs := map[Pair]bool{}
	for n := range 300 {
		var matches []Match
		for range r.IntN(6) {
			m := Match{ID: fmt.Sprint("m", r.IntN(1000)), Distance: r.IntN(20) - 1, Score: float64(r.IntN(1001)) / 1000}
			if m.Distance > MaxDistance {
				m.Distance = -1
			}
			if m.Score < MinScore {
				m.Score = -1
			}
			matches = append(matches, m)
			id := fmt.Sprint("d", n)
			pairs[Pair{A: min(id, m.ID), B: max(id, m.ID), Score: m.Score, Distance: m.Distance}] = true
		}
		add(report, fmt.Sprint("d", n), matches...)
	}
	return report, pairs
}

// TestReport compares the estimates with counts over all pairs.
func TestReport(t *testing.T) {
	r, pairs := sample(true)
	for b := range bins {
		want := 0.0
		for p := range pairs {
			if p.Score >= edge(b) && (p.Score < edge(b+1) || b == bins-1) {
				want++
			}
		}
		if r.byScore[b] != want {
			t.Errorf("%g pairs from %g on, want %g", r.byScore[b], edge(b), want)
		}
	}
	threshold := edge(r.threshold())
	for _, k := range []int{0, 3, 6, 10, 16} {
		var within, alike, all float64
		for p := range pairs {
			near, like := p.Distance >= 0 && p.Distance <= k, p.Score >= threshold
			if near {
				within++
			}
			if like {
				all++
			}
			if near && like {
				alike++
			}
		}
		if precise, complete := r.Relation(k); precise != alike/within || complete != alike/all {
			t.Errorf("within %d: %g and %g, want %g and %g", k, precise, complete, alike/within, alike/all)
		}
	}
	lowest, highest := 2.0, 0.0
	for p := range pairs {
		if p.Score >= threshold {
			lowest = min(lowest, p.Score)
		} else {
			highest = max(highest, p.Score)
		}
	}
	got, shown := r.Boundary(0), map[string]bool{}
	if len(got) != 10 || got[4].Score != lowest || got[5].Score != highest {
		t.Errorf("%d pairs at the threshold, not those closest to it", len(got))
	}
	for i, p := range got {
		if shown[p.A] || shown[p.B] || i > 0 && p.Score > got[i-1].Score || (i < 5) != (p.Score >= threshold) {
			t.Errorf("pair %d at the threshold: %+v", i, p)
		}
		shown[p.A], shown[p.B] = true, true
	}
}

// TestNodes checks that documents with equal features count separately and never appear as
// examples, and that no text appears in two examples.
func TestNodes(t *testing.T) {
	r := &Report{Documents: 1000, Scored: true}
	n := r.Add("a", "hello there", 500, true)
	for i := range 1000 {
		r.Found(n, Match{ID: fmt.Sprint("a", i), Text: "hello there", Score: 1})
	}
	if c := r.AtLeast(0.8); c.Pairs.Value != 999*1000/2 || c.Share.Value != 1 || c.Example != nil || len(r.Boundary(0)) > 0 {
		t.Errorf("equal texts: %+v", c)
	}
	for i := range 9 {
		n := r.Add(fmt.Sprint("b", i), fmt.Sprint("hello ", i), 1, true)
		r.Found(n, Match{ID: fmt.Sprint("hub", i), Text: "Hello there", Score: 0.8 + float64(i)/1000, Distance: 20})
	}
	if got := r.Boundary(0); len(got) != 1 || got[0].A != "b0" {
		t.Errorf("a hub: %d pairs", len(got))
	}
}

// TestCut checks that a document counts if it has many matches on both sides of 0.8.
func TestCut(t *testing.T) {
	r := &Report{Scored: true}
	for _, c := range []struct{ above, below, far int }{{10, 10, 0}, {12, 30, 3}, {10, 9, 50}, {0, 0, 90}} {
		n := r.Add("a", "", 1, true)
		for score, n2 := range map[float64]int{0.82: c.above, 0.78: c.below, 0.6: c.far} {
			for range n2 {
				r.Found(n, Match{ID: "b", Score: score, Distance: -1})
			}
		}
	}
	if share := r.Cut(10); share != 0.5 {
		t.Errorf("%g of the documents are cut through, want half of them", share)
	}
}

// TestSymbols compares texts with equal words and different symbols.
func TestSymbols(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Return x, y.", "return x y", true}, {"don’t (ever) stop…", "don't ever -- stop!", true},
		{"x == y", "x != y", false}, {"a < b", "a > b", false}, {"a b", "a * b", false},
	} {
		r := &Report{Scored: true}
		r.Found(r.Add("a", c.a, 3, true), Match{ID: "b", Text: c.b, Score: 1})
		if want := map[bool]int64{true: 0, false: 3}[c.same]; r.Symbols() != want {
			t.Errorf("%q and %q: %d documents, want %d", c.a, c.b, r.Symbols(), want)
		}
	}
}

// TestExcerpts checks that excerpts of long texts start where they begin to differ.
func TestExcerpts(t *testing.T) {
	long := strings.Repeat("the same words ", 1000)
	a, b := excerpts(long+"and one", long+"and two")
	if !strings.HasPrefix(a, "…") || !strings.HasSuffix(a, "and one") || !strings.HasSuffix(b, "and two") || len(a) > 100 {
		t.Errorf("%q, %q", a, b)
	}
	if a, b := excerpts(long, "x"+long); len(a) > 2010 || len(b) > 2010 {
		t.Errorf("%d and %d bytes", len(a), len(b))
	}
}

// TestThreshold proposes 0.8, unless far fewer pairs are near another threshold.
func TestThreshold(t *testing.T) {
	for want, counts := range map[float64][bins]float64{
		0.8:  {9, 9, 9, 9, 9, 9, 9, 9, 9, 9},
		0.85: {9, 9, 9, 9, 9, 9, 2, 2, 9, 9},
		0.7:  {9, 9, 9, 1, 0, 9, 9, 9, 9, 9},
	} {
		r := Report{byScore: counts}
		if got := edge(r.threshold()); got != want {
			t.Errorf("%v: %g, want %g", counts, got, want)
		}
	}
	if b := binOf(0.8); edge(b) != 0.8 || binOf(0.7999) != b-1 || binOf(1) != bins-1 || binOf(0.5) != 0 {
		t.Error("a score is in the bin before its own")
	}
}

// TestEstimates draws samples of a corpus with large and small clusters: about 19 of 20 are
// within the stated errors, and a sample of all documents has no error.
func TestEstimates(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	var degrees []int // matches of each document
	for len(degrees) < 2000 {
		size := 1
		if r.IntN(4) == 0 {
			size += r.IntN(20)
		}
		for range size {
			degrees = append(degrees, size-1)
		}
	}
	estimate := func(sample int) Criterion {
		report := &Report{Documents: int64(len(degrees)), Scored: true}
		for _, i := range r.Perm(len(degrees))[:sample] {
			add(report, fmt.Sprint(i), slices.Repeat([]Match{{ID: "m", Score: 0.9}}, degrees[i])...)
		}
		return report.AtLeast(0.8)
	}
	whole := estimate(len(degrees))
	if whole.Share.Error != 0 || whole.Pairs.Error != 0 || whole.Removes.Error != 0 || whole.Share.Value < 0.5 {
		t.Errorf("all documents: %+v", whole)
	}
	const runs = 200
	right := map[string]int{}
	for range runs {
		c := estimate(200)
		for what, pair := range map[string][2]Estimate{
			"share": {c.Share, whole.Share}, "pairs": {c.Pairs, whole.Pairs}, "removes": {c.Removes, whole.Removes},
		} {
			if math.Abs(pair[0].Value-pair[1].Value) <= pair[0].Error {
				right[what]++
			}
		}
	}
	for _, what := range []string{"share", "pairs", "removes"} {
		if share := float64(right[what]) / runs; share < 0.92 || share > 0.97 && what != "removes" {
			t.Errorf("%s: %.3f of the samples are within the error", what, share)
		}
	}
	none := (&Report{Documents: 1000, sample: make([]sampled, 100), count: 100}).AtLeast(0.8)
	if e := none.Share.Error; e < 0.02 || e > 0.04 || !math.IsNaN(none.Pairs.Error) {
		t.Errorf("nothing found: %+v", none)
	}
}
