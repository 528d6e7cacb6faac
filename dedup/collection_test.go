package dedup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
)

func collect[T any](t *testing.T, seq iter.Seq2[T, error]) (all []T) {
	t.Helper()
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// writings returns texts: many repeat another one with a few words changed, and some are empty.
func writings(r *rand.Rand, n int) (texts []string) {
	for i := range n {
		words := []string{}
		if i > 0 && r.IntN(3) > 0 {
			words = strings.Fields(texts[i/2])
			for range r.IntN(3) {
				if len(words) > 0 {
					words[r.IntN(len(words))] = fmt.Sprint("w", r.IntN(40))
				}
			}
		}
		if len(words) == 0 && r.IntN(12) > 0 {
			for range 3 + r.IntN(20) {
				words = append(words, fmt.Sprint("w", r.IntN(40)))
			}
		}
		texts = append(texts, strings.Join(words, " "))
	}
	return texts
}

// TestManyTexts checks that a collection reads ahead only up to a limit.
func TestManyTexts(t *testing.T) {
	long := strings.Repeat("so that these are more bytes than are read ahead ", 1<<16)
	texts := []string{"one two three four", long + "a b c", long + "d e f", "one two three four", long + "g h i", long + "a b c"}
	got := collect(t, dedup.Texts(slices.Values(texts), &dedup.Options{TempDir: t.TempDir()}).Pairs(t.Context(), engine.Jaccard(1)))
	if want := []dedup.Pair{{A: 0, B: 3, Score: 1}, {A: 1, B: 5, Score: 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// TestTextFeatures checks that engine.Features apply to texts.
func TestTextFeatures(t *testing.T) {
	texts := slices.Values([]string{"Invoice of 3 May 2024: 100 units", "invoice of 17 June 2025: 100 Units", "invoices, of any day"})
	for _, test := range []struct {
		o     dedup.Options
		by    engine.Criterion
		pairs int
	}{
		{dedup.Options{}, engine.Jaccard(0.9), 0},
		{dedup.Options{Features: engine.Features{Mask: []string{"dates"}}}, engine.Jaccard(0.9), 1},
		{dedup.Options{Features: engine.Features{Unit: "chars"}, Shingle: 2}, engine.Jaccard(0.2), 3},
		{dedup.Options{Features: engine.Features{Unit: "set"}}, engine.Contains(0.25), 3},
	} {
		if n, err := dedup.Texts(texts, &test.o).CountPairs(t.Context(), test.by); err != nil || n != int64(test.pairs) {
			t.Errorf("%+v by %v: %d pairs, not %d (%v)", test.o, test.by, n, test.pairs, err)
		}
	}
}

// TestGiven compares texts that are features with weights, and texts whose features a function yields,
// with brute force.
func TestGiven(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 87))
	var texts []string
	var sets []map[string]float64
	for i := range 400 {
		set := map[string]float64{}
		if i%2 == 1 {
			set = maps.Clone(sets[i-1])
		}
		for range 1 + r.IntN(12) {
			set[fmt.Sprintf("f%d", r.IntN(30))] = []float64{1, 0.001, 3, 700, 10 * r.Float64(), 10 * r.Float64()}[r.IntN(6)]
		}
		if i%7 == 0 { // a list: what occurs twice has weight 2
			set = map[string]float64{"a": 2, fmt.Sprintf("f%d", r.IntN(30)): 1}
			text := `["a"`
			for f := range set {
				text += fmt.Sprintf(",%q", f)
			}
			texts, sets = append(texts, text+"]"), append(sets, set)
			continue
		}
		text, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		texts, sets = append(texts, string(text)), append(sets, set)
	}
	compute := func(text string) iter.Seq2[string, float64] { return maps.All(sets[slices.Index(texts, text)]) }
	for _, f := range []engine.Features{{Unit: "features"}, {Function: "test", Compute: compute}} {
		c := dedup.Texts(slices.Values(texts), &dedup.Options{Features: f, TempDir: t.TempDir()})
		for _, threshold := range []float64{0.3001, 0.7001, 1} {
			got := map[[2]int]float64{}
			for _, p := range collect(t, c.Pairs(t.Context(), engine.Jaccard(threshold))) {
				got[[2]int{p.A, p.B}] = p.Score
			}
			n := 0
			for a := range sets {
				for b := range a {
					least, most, both := 0.0, 0.0, maps.Clone(sets[a])
					maps.Copy(both, sets[b])
					for f := range both {
						least, most = least+min(sets[a][f], sets[b][f]), most+max(sets[a][f], sets[b][f])
					}
					score, found := got[[2]int{b, a}]
					if want := least / most; found != (want >= threshold-1e-12) || found && math.Abs(score-want) > 1e-12 {
						t.Fatalf("%s and %s at %v: %v, %v, want %v", texts[b], texts[a], threshold, score, found, want)
					}
					if found {
						n++
					}
				}
			}
			if n != len(got) || n < 3 {
				t.Errorf("%d pairs of %d at %v", n, len(got), threshold)
			}
		}
	}
}

func TestInvalid(t *testing.T) {
	words := dedup.Fingerprints([]uint64{1, 2}, nil)
	wide := dedup.WideFingerprints([][]uint64{{1, 2}, nil, {3, 4}}, nil)
	sets := dedup.Sets([][]uint64{{1, 2}, {2, 3}}, nil)
	of := func(o dedup.Options) *dedup.Collection {
		return dedup.Texts(slices.Values([]string{"a b c", "a b c"}), &o)
	}
	for i, test := range []struct {
		c  *dedup.Collection
		by engine.Criterion
	}{
		{words, engine.Near(65)}, {words, engine.Near(-1)}, {words, engine.Jaccard(0.5)}, {words, engine.Cosine(0.5)}, {words, engine.Within(1)},
		{wide, engine.Near(129)}, {wide, engine.Levenshtein(0.5)},
		{dedup.WideFingerprints([][]uint64{{1, 2}, {3}}, nil), engine.Near(1)},
		{dedup.WideFingerprints([][]uint64{make([]uint64, 17)}, nil), engine.Near(1)},
		{dedup.WideFingerprints(nil, nil), engine.Near(1025)},
		{sets, engine.Near(3)}, {sets, engine.Levenshtein(0.5)}, {sets, engine.Cosine(0.5)},
		{sets, engine.Jaccard(0)}, {sets, engine.Jaccard(1.01)}, {sets, engine.Jaccard(math.NaN())}, {sets, engine.Contains(math.NaN())},
		{of(dedup.Options{}), engine.Levenshtein(math.NaN())}, {of(dedup.Options{}), engine.Levenshtein(1e-7)}, {of(dedup.Options{}), engine.Cosine(-1)},
		{of(dedup.Options{}), engine.Near(65)}, {of(dedup.Options{Bits: 100}), engine.Near(3)}, {of(dedup.Options{Bits: 2048}), engine.Near(3)},
		{of(dedup.Options{Shingle: -1}), engine.Jaccard(1)}, {of(dedup.Options{Features: engine.Features{Unit: "none"}}), engine.Jaccard(1)},
		{of(dedup.Options{Features: engine.Features{Code: "pdq"}}), engine.Near(1)},
		{new(dedup.Collection), engine.Jaccard(2)}, {words, engine.Criterion{}},
	} {
		var errs []error
		for _, err := range test.c.Pairs(t.Context(), test.by) {
			errs = append(errs, err)
		}
		for _, err := range test.c.Clusters(t.Context(), test.by, false) {
			errs = append(errs, err)
		}
		_, err := test.c.CountPairs(t.Context(), test.by)
		if errs = append(errs, err); len(errs) != 3 {
			t.Errorf("%d: %v", i, errs)
		}
		for _, err := range errs {
			if !errors.Is(err, engine.ErrInvalid) || strings.Contains(fmt.Sprint(err), "--") {
				t.Errorf("%d: by %v: %v", i, test.by, err)
			}
		}
	}
	for range new(dedup.Collection).Pairs(t.Context(), engine.Near(3)) {
		t.Error("the zero collection has a pair")
	}
}

func TestTooManyPairs(t *testing.T) {
	words := make([]uint64, 3000)
	o := dedup.Options{Memory: 1 << 20}
	n := 0
	for _, err := range dedup.Fingerprints(words, &o).Pairs(t.Context(), engine.Near(3)) {
		if n++; !errors.Is(err, engine.ErrTooLarge) || strings.Contains(err.Error(), "--") {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("%d pairs", n)
	}
	o.Unordered = true
	if n := len(collect(t, dedup.Fingerprints(words, &o).Pairs(t.Context(), engine.Near(3)))); n != 3000*2999/2 {
		t.Errorf("%d pairs", n)
	}
}

// TestStops ends loops early, and cancels contexts.
func TestStops(t *testing.T) {
	texts := writings(rand.New(rand.NewPCG(5, 5)), 2000)
	seq := slices.Values(texts)
	for _, unordered := range []bool{false, true} {
		c := dedup.Texts(seq, &dedup.Options{Unordered: unordered, TempDir: t.TempDir()})
		n := 0
		for _, err := range c.Pairs(t.Context(), engine.Jaccard(0.5)) {
			if n++; err != nil || n == 3 {
				break
			}
		}
		for _, err := range c.Clusters(t.Context(), engine.Jaccard(0.5), false) {
			if n++; err != nil || n == 6 {
				break
			}
		}
		if n != 6 {
			t.Errorf("%d results", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var errs []error
		for _, err := range c.Pairs(ctx, engine.Near(3)) {
			errs = append(errs, err)
		}
		for _, err := range c.Clusters(ctx, engine.Near(3), true) {
			errs = append(errs, err)
		}
		if len(errs) != 2 || !errors.Is(errs[0], context.Canceled) || !errors.Is(errs[1], context.Canceled) {
			t.Errorf("after the end of the context: %v", errs)
		}
	}
}

func TestProgress(t *testing.T) {
	stages := map[string]bool{}
	o := dedup.Options{Progress: func(p engine.Progress) { stages[p.Stage] = true }}
	collect(t, dedup.Texts(slices.Values(writings(rand.New(rand.NewPCG(6, 6)), 3000)), &o).Pairs(t.Context(), engine.Jaccard(0.5)))
	if !stages["join"] || !stages["sort"] {
		t.Errorf("progress of %v", stages)
	}
}
