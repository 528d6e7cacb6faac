package dedup_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/textsim"
)

// A truth is the result of comparing all items: the similarity of two items, the greater the
// better, and whether they match; and the order of processing for clusters.
type truth struct {
	n      int
	match  func(a, b int) (match float64, ok bool)
	equal  func(a, b int) bool // items that are processed as one; nil: each is processed alone
	size   func(a int) int     // the largest items are processed first; nil: all have one size
	prefer func(a, b int) int
	near   bool
}

// A joined is an item with its keeper.
type joined struct {
	keeper int
	match  float64
}

func (w *truth) pairs() (pairs []dedup.Pair) {
	type found struct {
		match float64
		a, b  int
	}
	var all []found
	for b := range w.n {
		for a := range b {
			if match, ok := w.match(a, b); ok {
				all = append(all, found{match, a, b})
			}
		}
	}
	slices.SortFunc(all, func(p, q found) int {
		return cmp.Or(cmp.Compare(q.match, p.match), cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
	})
	for _, p := range all {
		distance, score := w.split(p.match)
		pairs = append(pairs, dedup.Pair{A: p.a, B: p.b, Distance: distance, Score: score})
	}
	return pairs
}

func (w *truth) split(match float64) (distance int, score float64) {
	if w.near {
		return int(-match), 0
	}
	return 0, match
}

func (w *truth) order() []int {
	order := slices.Sorted(maps.Keys(make(map[int]bool)))
	for n := range w.n {
		order = append(order, n)
	}
	if w.prefer != nil {
		slices.SortStableFunc(order, w.prefer)
	}
	return order
}

func (w *truth) stars() []joined {
	all, order := make([]joined, w.n), w.order()
	if w.size != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.size(b), w.size(a)) })
	}
	var keepers, taken []int
	for _, n := range order {
		all[n] = joined{n, w.self()}
		same := slices.IndexFunc(taken, func(q int) bool { return w.equal != nil && w.equal(n, q) })
		if same >= 0 {
			k := all[taken[same]].keeper
			match, _ := w.match(n, k)
			all[n] = joined{k, match}
			continue
		}
		for _, k := range keepers {
			if match, ok := w.match(n, k); ok && (all[n].keeper == n || match > all[n].match) {
				all[n] = joined{k, match}
			}
		}
		if taken = append(taken, n); all[n].keeper == n {
			keepers = append(keepers, n)
		}
	}
	return all
}

// self returns the match of an item with itself.
func (w *truth) self() float64 {
	if w.near {
		return 0
	}
	return 1
}

func (w *truth) components() []joined {
	label := make([]int, w.n)
	for n := range label {
		label[n] = n
	}
	for changed := true; changed; {
		changed = false
		for b := range w.n {
			for a := range b {
				if _, ok := w.match(a, b); ok && label[a] != label[b] {
					label[a], label[b] = min(label[a], label[b]), min(label[a], label[b])
					changed = true
				}
			}
		}
	}
	first := map[int]int{}
	for _, n := range w.order() {
		if _, ok := first[label[n]]; !ok {
			first[label[n]] = n
		}
	}
	all := make([]joined, w.n)
	for n := range all {
		all[n] = joined{first[label[n]], w.self()}
		if k := all[n].keeper; k != n {
			all[n].match, _ = w.match(n, k)
		}
	}
	return all
}

func (w *truth) clusters(all []joined) (clusters []dedup.Cluster) {
	of := map[int]dedup.Cluster{}
	for k, j := range all {
		if j.keeper != k {
			continue
		}
		for n, j := range all {
			distance, score := w.split(j.match)
			m := dedup.Member{Item: n, Distance: distance, Score: score}
			switch {
			case n == k:
				of[k] = slices.Insert(of[k], 0, m)
			case j.keeper == k:
				of[k] = append(of[k], m)
			}
		}
	}
	for _, c := range of {
		if len(c) > 1 {
			clusters = append(clusters, c)
		}
	}
	slices.SortFunc(clusters, func(a, b dedup.Cluster) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].Item, b[0].Item))
	})
	return clusters
}

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

// check compares a collection created by make with the truth, with all options.
func check(t *testing.T, name string, w truth, by engine.Criterion, make func(*dedup.Options) *dedup.Collection) {
	t.Helper()
	ctx := t.Context()
	for _, memory := range []int64{0, 1 << 14} { // with the second, sets and texts go to a file
		dir := t.TempDir()
		o := &dedup.Options{Memory: memory, TempDir: dir}
		if w.prefer = nil; memory != 0 { // prefer items by their last few bits, then later items
			w.prefer = func(a, b int) int { return cmp.Or(cmp.Compare(a%7, b%7), cmp.Compare(b, a)) }
			o.Prefer = w.prefer
		}
		pairs := w.pairs()
		c := make(&dedup.Options{TempDir: dir})
		if got := collect(t, c.Pairs(ctx, by)); !slices.Equal(got, pairs) {
			t.Fatalf("%s: pairs by %v: %d, not %d: %v, not %v", name, by, len(got), len(pairs), got, pairs)
		}
		c = make(o)
		if n, err := c.CountPairs(ctx, by); err != nil || n != int64(len(pairs)) {
			t.Fatalf("%s: by %v there are %d pairs, not %d (%v)", name, by, n, len(pairs), err)
		}
		o.Unordered = true
		found := collect(t, make(o).Pairs(ctx, by))
		less := func(p, q dedup.Pair) int { return cmp.Or(cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B)) }
		slices.SortFunc(found, less)
		if slices.SortFunc(pairs, less); !slices.Equal(found, pairs) {
			t.Fatalf("%s: unordered pairs by %v: %v, not %v", name, by, found, pairs)
		}
		for mode, all := range map[engine.ClusterMode][]joined{engine.Star: w.stars(), engine.Components: w.components()} {
			got, want := collect(t, c.Clusters(ctx, by, mode)), w.clusters(all)
			if !slices.EqualFunc(got, want, slices.Equal[dedup.Cluster]) {
				t.Fatalf("%s: clusters by %v, mode %d: %v, not %v", name, by, mode, got, want)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("%s: files are left: %v (%v)", name, left, err)
		}
	}
}

// fingerprints returns fingerprints, some of which differ in only a few bits; with none, some
// have no words.
func fingerprints(r *rand.Rand, n, width int, none bool) [][]uint64 {
	all := make([][]uint64, n)
	for i := range all {
		switch {
		case none && r.IntN(10) == 0:
			continue
		case i == 0 || r.IntN(3) == 0 || all[i/2] == nil:
			for range width {
				all[i] = append(all[i], r.Uint64())
			}
		default:
			all[i] = slices.Clone(all[i/2])
			for range r.IntN(12) {
				all[i][r.IntN(width)] ^= 1 << r.IntN(64)
			}
		}
	}
	return all
}

// ofPrints returns the truth about fingerprints within k bits.
func ofPrints(all [][]uint64, k int) truth {
	return truth{
		n: len(all), near: true,
		equal: func(a, b int) bool { return all[a] != nil && slices.Equal(all[a], all[b]) },
		match: func(a, b int) (float64, bool) {
			if all[a] == nil || all[b] == nil {
				return 0, false
			}
			d := 0
			for w := range all[a] {
				d += bits.OnesCount64(all[a][w] ^ all[b][w])
			}
			return -float64(d), d <= k
		},
	}
}

func TestFingerprints(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := fingerprints(r, r.IntN(150), 1, false)
		words := make([]uint64, len(all))
		for i, fp := range all {
			words[i] = fp[0]
		}
		for _, k := range []int{0, 3, 9, 30, 64} {
			check(t, "words", ofPrints(all, k), engine.Near(k), func(o *dedup.Options) *dedup.Collection { return dedup.Fingerprints(words, o) })
		}
	}
}

func TestWideFingerprints(t *testing.T) {
	for _, width := range []int{1, 2, 3, 4, 16} {
		r := rand.New(rand.NewPCG(uint64(width), 2))
		all := fingerprints(r, 120, width, true)
		for _, k := range []int{0, 4, 20, 64 * width} {
			check(t, fmt.Sprint(width, " words"), ofPrints(all, k), engine.Near(k), func(o *dedup.Options) *dedup.Collection { return dedup.WideFingerprints(all, o) })
		}
	}
}

// ofSets returns the truth about sets by Jaccard similarity, or by containment if contained is
// set.
func ofSets[E cmp.Ordered](sets []map[E]bool, at float64, contained bool) truth {
	w := truth{n: len(sets), match: func(a, b int) (float64, bool) {
		common := 0
		for e := range sets[a] {
			if sets[b][e] {
				common++
			}
		}
		of := len(sets[a]) + len(sets[b]) - common
		if contained {
			of = min(len(sets[a]), len(sets[b]))
		}
		if common == 0 {
			return 0, false
		}
		score := float64(common) / float64(of)
		return score, score >= at
	}}
	if contained {
		w.size = func(a int) int { return len(sets[a]) }
	}
	return w
}

func TestSets(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 3))
		small := uint64(seed % 2 * 60) // elements are small numbers, or hashes
		var all [][]uint64
		var sets []map[uint64]bool
		for i := range 120 {
			var set []uint64
			if i > 0 && r.IntN(3) > 0 {
				for _, e := range all[i/2] {
					if r.IntN(12) > 0 {
						set = append(set, e)
					}
				}
			}
			for range r.IntN(12) {
				e := r.Uint64()
				if small > 0 {
					e %= small
				}
				set = append(set, e, e)
			}
			all = append(all, set)
			sets = append(sets, map[uint64]bool{})
			for _, e := range set {
				sets[i][e] = true
			}
		}
		before := fmt.Sprint(all)
		for _, at := range []float64{0.1, 0.5, 0.8, 1} {
			of := func(o *dedup.Options) *dedup.Collection { return dedup.Sets(all, o) }
			check(t, "sets", ofSets(sets, at, false), engine.Jaccard(at), of)
			check(t, "sets", ofSets(sets, at, true), engine.Contains(at), of)
		}
		if fmt.Sprint(all) != before {
			t.Error("the sets were changed")
		}
	}
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

func TestTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	texts := writings(r, 80)
	shingles := make([]map[string]bool, len(texts))
	for i, text := range texts {
		words := strings.Fields(text)
		shingles[i] = map[string]bool{}
		for k := range max(0, len(words)-1) {
			shingles[i][words[k]+" "+words[k+1]] = true
		}
	}
	of := func(o *dedup.Options) *dedup.Collection {
		o.Shingle = 2
		return dedup.Texts(slices.Values(texts), o)
	}
	for _, at := range []float64{0.3, 0.6, 1} {
		check(t, "texts", ofSets(shingles, at, false), engine.Jaccard(at), of)
		check(t, "texts", ofSets(shingles, at, false), engine.Jaccard(at).Verified(), of)
		check(t, "texts", ofSets(shingles, at, true), engine.Contains(at), of)
		check(t, "texts", ofSets(shingles, at, true), engine.Within(at), of)
		check(t, "texts", ofTexts(texts, at, textsim.Levenshtein), engine.Levenshtein(at), of)
		check(t, "texts", ofTexts(texts, at, textsim.Cosine), engine.Cosine(at), of)
	}
	for _, width := range []int{1, 3} {
		prints := make([][]uint64, len(texts))
		f := features.NewFingerprinter(features.Params{Shingle: 2, Words: width})
		for i, text := range texts {
			if r := f.Text(text); !r.Empty {
				prints[i] = append([]uint64{r.Fingerprint}, r.Rest...)
			}
		}
		for _, k := range []int{0, 12, 30 * width} {
			check(t, "texts", ofPrints(prints, k), engine.Near(k), func(o *dedup.Options) *dedup.Collection {
				o.Bits = 64 * width
				return of(o)
			})
		}
	}
}

// ofTexts returns the truth about texts by a measure of package textsim; empty texts match
// nothing.
func ofTexts(texts []string, at float64, start func(string, float64) textsim.Compare) truth {
	return truth{n: len(texts), match: func(a, b int) (score float64, ok bool) {
		if texts[a] == "" || texts[b] == "" {
			return 0, false
		}
		score, _ = start(texts[a], math.SmallestNonzeroFloat64)(context.Background(), []byte(texts[b]))
		_, ok = start(texts[a], at)(context.Background(), []byte(texts[b]))
		return score, ok
	}}
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
		for _, err := range test.c.Clusters(t.Context(), test.by, engine.Star) {
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
		for _, err := range c.Clusters(t.Context(), engine.Jaccard(0.5), engine.Star) {
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
		for _, err := range c.Clusters(ctx, engine.Near(3), engine.Components) {
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
