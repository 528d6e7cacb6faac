package engine

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// crowdedDB has few fingerprints and few texts, so that most documents have many ties; in tables
// and memtables, with deleted, replaced and expired documents.
func crowdedDB(t *testing.T, seed uint64, o *Options) *DB {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 45))
	o.NoSync = true
	db := open4test(t, t.TempDir()+"/crowded.simdb", o)
	for i := range 400 {
		fp := []uint64{0, 0, 0, 1, 3, 0xff, 0xfe, ^uint64(0), r.Uint64()}[r.IntN(9)]
		words := strings.Fields("one two three four five six seven eight nine ten eleven twelve")[:4+r.IntN(9)]
		d := Doc{ID: fmt.Sprintf("%d", r.IntN(300)), Fingerprints: []Fingerprint{{fp}}, Text: strings.Join(words, " ")}
		if r.IntN(10) == 0 {
			d.Fingerprints, d.Text = nil, ""
		}
		if r.IntN(10) == 0 {
			d.Time = time.Now().Add(-time.Hour)
		}
		err := db.Put(t.Context(), d)
		if err == nil && r.IntN(6) == 0 {
			if err = db.Delete(t.Context(), fmt.Sprintf("%d", r.IntN(300))); errors.Is(err, ErrNotFound) {
				err = nil
			}
		}
		if err == nil && i%130 == 129 && seed%3 > 0 {
			err = db.Flush(t.Context())
		}
		must.Do(t, err)
	}
	if seed%3 == 2 {
		must.Do(t, db.Compact(t.Context(), nil))
	}
	return db
}

// written returns the elements of a list as text, to compare.
func written[T any](list []T) (s []string) {
	for _, v := range list {
		s = append(s, fmt.Sprintf("%+v", v))
	}
	return s
}

// sameSet compares two lists without regard to order.
func sameSet[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	text := func(list []T) []string { return slices.Sorted(slices.Values(written(list))) }
	if !slices.Equal(text(got), text(want)) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func (s *Snapshot) first(t *testing.T) string {
	for d, err := range s.Range(t.Context(), Range{}) {
		must.Do(t, err)
		return d.ID
	}
	panic("no document")
}

// TestFirstUnorderedCount checks that the first n results are a prefix of the ordered ones, that
// unordered results are the same set, and that counts are their number.
func TestFirstUnorderedCount(t *testing.T) {
	for seed := range exhaustive.Some(t, 3, 6) {
		o := &Options{DisableAutoCompaction: true}
		if seed%2 == 1 {
			o.TTL = 30 * time.Minute
		}
		db := crowdedDB(t, uint64(seed), o)
		s := snapshot4test(t, db)
		ctx := t.Context()
		some := []int{0, 1, 2, 3, 10, 63, 64, 65, 500, 1 << 20}
		for _, k := range []int{0, 1, 3, 8, 64} {
			near := collect(t, s.Search(ctx, ofPrint(0), Near(k), nil))
			for _, n := range some {
				if got := collect(t, s.Search(ctx, ofPrint(0), Near(k), &SearchOptions{Limit: n})); !slices.Equal(got, near[:min(cmp.Or(n, len(near)), len(near))]) {
					t.Fatalf("seed %d: the first %d within %d bits: %v, want %v", seed, n, k, got, near)
				}
			}
			sameSet(t, "near", collect(t, s.Search(ctx, ofPrint(0), Near(k), &SearchOptions{Unordered: true})), near)
			if n, err := s.CountMatches(ctx, ofPrint(0), Near(k), nil); err != nil || n != int64(len(near)) || k == 64 && n < 100 {
				t.Fatalf("seed %d: %d within %d bits, %v, want %d", seed, n, k, err, len(near))
			}
		}
		for _, by := range []Criterion{Jaccard(1e-9).Estimated(), Jaccard(0.1).Estimated(), Jaccard(0.3).Estimated(), Jaccard(0.9).Estimated(), Jaccard(1e-9), Jaccard(0.4), Levenshtein(0.2)} {
			for _, doc := range []Doc{{Text: "one two three"}, {Text: "one two three four five six seven eight nine ten eleven twelve"}, {ID: s.first(t)}} {
				all := collect(t, s.Search(ctx, doc, by, nil))
				for _, n := range some {
					if got := collect(t, s.Search(ctx, doc, by, &SearchOptions{Limit: n})); !slices.Equal(got, all[:min(cmp.Or(n, len(all)), len(all))]) {
						t.Fatalf("seed %d: the first %d like %v by %v: %v, want %v", seed, n, doc, by, got, all)
					}
				}
			}
		}
		for _, by := range []Criterion{Near(0), Near(1), Near(3), Near(10), Jaccard(0.9).Estimated(), Jaccard(0.5).Estimated(), Jaccard(0.7)} {
			pairs := collect(t, s.Pairs(ctx, by, nil))
			for _, n := range append(some[1:], len(pairs)-1, len(pairs), len(pairs)/2) {
				if got := collect(t, s.Pairs(ctx, by, &SearchOptions{Limit: n})); !slices.Equal(got, pairs[:min(n, len(pairs))]) {
					t.Fatalf("seed %d: the first %d pairs %v: %v, want %v", seed, n, by, got, pairs[:min(n, len(pairs))])
				}
			}
			sameSet(t, "pairs", collect(t, s.Pairs(ctx, by, &SearchOptions{Unordered: true})), pairs)
			if n, err := countPairs(ctx, s, by); err != nil || n != int64(len(pairs)) || n < 100 {
				t.Fatalf("seed %d: %d pairs %v, %v, want %d", seed, n, by, err, len(pairs))
			}
			for _, mode := range []bool{false, true} {
				members := collect(t, s.Clusters(ctx, by, &ClusterOptions{Components: mode}))
				n, err := countClusters(ctx, s, by, ClusterOptions{Components: mode})
				if err != nil || n != int64(members[len(members)-1].Cluster) {
					t.Fatalf("seed %d: %d clusters, %v, want %d", seed, n, err, members[len(members)-1].Cluster)
				}
			}
		}
		entries := collect(t, entriesIn(ctx, s, Range{}))
		if n, err := s.Count(ctx, Range{}); err != nil || n != int64(len(entries)) || n < 100 {
			t.Fatalf("seed %d: %d documents, %v, want %d", seed, n, err, len(entries))
		}
		for _, prefix := range []string{"", "1", "29", "x"} {
			want := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !strings.HasPrefix(e.ID, prefix) })
			sameSet(t, "entries", collect(t, entriesIn(ctx, s, Range{Prefix: prefix, Unordered: true})), want)
			for _, length := range []int{1, 2, 7, 100, 1000} {
				if got := collect(t, entriesFrom(s.documents(ctx, Range{Prefix: prefix}, max(1, length/2), length))); !slices.Equal(written(got), written(want)) {
					t.Fatalf("seed %d: entries by pages of %d: %v, want %v", seed, length, got, want)
				}
			}
		}
		e := entries[len(entries)/2]
		for _, by := range []Criterion{Jaccard(0.9).Estimated(), Jaccard(0.3).Estimated(), Jaccard(0.6)} {
			found := collect(t, s.Search(ctx, Doc{ID: e.ID}, by, nil))
			if n, err := s.CountMatches(ctx, Doc{ID: e.ID}, by, nil); err != nil || n != int64(len(found)) {
				t.Fatalf("seed %d: %d like %s, %v, want %d", seed, n, e.ID, err, len(found))
			}
		}
	}
}

// TestNearAllocations checks that a search allocates for the results it yields, not for those it
// finds.
func TestNearAllocations(t *testing.T) {
	if exhaustive.Race {
		t.Skip("the race detector drops items of pools")
	}
	db := crowdedDB(t, 2, &Options{})
	ctx := t.Context()
	s := snapshot4test(t, db)
	for what, tc := range map[string]struct {
		most float64
		run  func()
	}{
		"no match": {1, func() { collect(t, db.Near(ctx, 0x5555, 1)) }},
		"count":    {2, func() { s.CountMatches(ctx, ofPrint(0), Near(64), nil) }},
		"first":    {60, func() { collect(t, s.Search(ctx, ofPrint(0), Near(64), &SearchOptions{Limit: 10})) }},
	} {
		tc.run()
		if n := testing.AllocsPerRun(20, tc.run); n > tc.most+4 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}

// TestMemory checks that results that exceed Options.Memory are ErrTooLarge, with advice; limited,
// unordered and counted results fit.
func TestMemory(t *testing.T) {
	db := crowdedDB(t, 1, &Options{Memory: 1 << 10})
	s := snapshot4test(t, db)
	ctx := t.Context()
	last := func(seq iter.Seq2[Match, error]) (err error) {
		for _, err = range seq {
		}
		return err
	}
	pairs := func(seq iter.Seq2[Pair, error]) (err error) {
		for _, err = range seq {
		}
		return err
	}
	batch := func(fps ...uint64) (err error) {
		for _, err = range s.SearchBatch(ctx, ofPrints(fps), Near(0), nil) {
		}
		return err
	}
	for what, err := range map[string]error{
		"near": last(s.Search(ctx, ofPrint(0), Near(64), nil)), "jaccard": last(s.Search(ctx, Doc{Text: "one two three four five six"}, Jaccard(0.1).Estimated(), nil)),
		"pairs": pairs(s.Pairs(ctx, Near(3), nil)), "sketch pairs": pairs(s.Pairs(ctx, Jaccard(0.5).Estimated(), nil)),
		"many of the first": last(s.Search(ctx, ofPrint(0), Near(64), &SearchOptions{Limit: 1 << 20})),
	} {
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "LIMIT") || !strings.Contains(err.Error(), "Memory") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"near": last(s.Search(ctx, ofPrint(0), Near(64), &SearchOptions{Limit: 3})), "unordered": last(s.Search(ctx, ofPrint(0), Near(64), &SearchOptions{Unordered: true})), "nearest": last(s.Search(ctx, ofPrint(0), Near(64), &SearchOptions{Limit: 3})),
		"pairs": pairs(s.Pairs(ctx, Near(3), &SearchOptions{Limit: 3})), "sketch pairs": pairs(s.Pairs(ctx, Jaccard(0.5).Estimated(), &SearchOptions{Limit: 3})),
		"unordered pairs": pairs(s.Pairs(ctx, Near(3), &SearchOptions{Unordered: true})), "a batch": batch(0, 1, 2, 0xfff000),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := len(collect(t, entriesIn(ctx, s, Range{}))); n < 100 {
		t.Errorf("%d entries", n)
	}
}
