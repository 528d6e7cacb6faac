package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/exhaustive"
)

// TestCancelJoins ends joins at random moments of the time that they take. They return soon: far
// sooner than they would take.
func TestCancelJoins(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	n, rounds := exhaustive.Size(6000, 20000), exhaustive.Size(2, 4)
	db, _ := create4test(t, &Options{Sync: SyncNever})
	l, err := db.NewLoader(t.Context(), &LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		text := ""
		for range 25 {
			x := r.Float64()
			text += fmt.Sprintf("w%d ", int(2000*x*x*x*x))
		}
		if err := l.Add(Doc{ID: fmt.Sprint(i), Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	joins := map[string]func(ctx context.Context) error{}
	add := func(name string, by Criterion, mode ClusterMode, pairs bool) {
		joins[fmt.Sprint(name, by)] = func(ctx context.Context) error {
			if pairs {
				for _, err := range db.Pairs(ctx, by) {
					if err != nil {
						return err
					}
				}
				return nil
			}
			for _, err := range db.Clusters(ctx, by, &ClusterOptions{Mode: mode, Before: func(a, b Entry) bool { return a.ID < b.ID }}) {
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, by := range []Criterion{Jaccard(0.1), Jaccard(0.3).Verified(), Near(16)} {
		add("pairs ", by, Star, true)
		add("stars ", by, Star, false)
		add("components ", by, Components, false)
	}
	for name, join := range joins {
		start := time.Now()
		if err := join(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		whole := time.Since(start)
		for range rounds {
			ctx, cancel := context.WithCancel(t.Context())
			at := time.Duration(r.Int64N(int64(whole)))
			var cancelled time.Time
			timer := time.AfterFunc(at, func() { cancelled = time.Now(); cancel() })
			err := join(ctx)
			ended := time.Now()
			if timer.Stop() || err == nil {
				cancel()
				continue // it was faster this time
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v", name, err)
			}
			if late := ended.Sub(cancelled); late > exhaustive.Slower*200*time.Millisecond+whole/10 {
				t.Errorf("%s: cancelled after %v of %v, it took %v more", name, at, whole, late)
			}
		}
	}
}

// TestCancelRows ends the context while the rows of a search that has found all of them are taken.
func TestCancelRows(t *testing.T) {
	db, _ := create4test(t, &Options{Sync: SyncNever})
	doc := Doc{Text: "one two three four five six seven eight"}
	for i := range 1500 {
		doc.ID = fmt.Sprint(i)
		if err := db.Put(t.Context(), doc); err != nil {
			t.Fatal(err)
		}
		if i == 700 {
			if err := db.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := snapshot4test(t, db)
	d, err := s.Get(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	fp := *d.Fingerprint
	type ctxt = context.Context
	cancelAtFirst(t, "near", func(ctx ctxt) iter.Seq2[Match, error] { return s.Search(ctx, ofPrint(fp), Near(3)) })
	cancelAtFirst(t, "first near", func(ctx ctxt) iter.Seq2[Match, error] {
		return s.Search(ctx, ofPrint(fp), Near(3), &SearchOptions{Limit: 1400})
	})
	cancelAtFirst(t, "near unordered", func(ctx ctxt) iter.Seq2[Match, error] {
		return s.Search(ctx, ofPrint(fp), Near(3), &SearchOptions{Unordered: true})
	})
	cancelAtFirst(t, "nearest", func(ctx ctxt) iter.Seq2[Match, error] {
		return s.Search(ctx, ofPrint(fp), Near(64), &SearchOptions{Limit: 1400})
	})
	cancelAtFirst(t, "near batch", func(ctx ctxt) iter.Seq2[BatchMatch, error] {
		return s.SearchBatch(ctx, ofPrints([]uint64{fp}), Near(3))
	})
	cancelAtFirst(t, "jaccard", func(ctx ctxt) iter.Seq2[Match, error] { return s.Search(ctx, doc, Jaccard(0.5)) })
	cancelAtFirst(t, "verified", func(ctx ctxt) iter.Seq2[Match, error] { return s.Search(ctx, doc, Jaccard(0.5).Verified()) })
	cancelAtFirst(t, "entries", func(ctx ctxt) iter.Seq2[Entry, error] { return entriesIn(ctx, s, Range{}) })
	for _, by := range []Criterion{Near(3), Jaccard(0.5), Jaccard(0.5).Verified()} {
		for _, n := range []int{5000, search.MostFirst + 1} {
			cancelAtFirst(t, fmt.Sprint("first pairs ", by, n), func(ctx ctxt) iter.Seq2[Pair, error] { return s.Pairs(ctx, by, &PairOptions{Limit: n}) })
		}
		cancelAtFirst(t, fmt.Sprint("pairs ", by), func(ctx ctxt) iter.Seq2[Pair, error] { return s.Pairs(ctx, by) })
		cancelAtFirst(t, fmt.Sprint("unordered ", by), func(ctx ctxt) iter.Seq2[Pair, error] { return s.Pairs(ctx, by, &PairOptions{Unordered: true}) })
		for _, mode := range []ClusterMode{Star, Components} {
			cancelAtFirst(t, fmt.Sprint("clusters ", by, mode), func(ctx ctxt) iter.Seq2[Member, error] {
				return s.Clusters(ctx, by, &ClusterOptions{Mode: mode})
			})
		}
	}
}

// cancelAtFirst ends the context of a search at its first row.
func cancelAtFirst[T any](t *testing.T, name string, search func(context.Context) iter.Seq2[T, error]) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	taken, last := 0, error(nil)
	for _, last = range search(ctx) {
		taken++
		cancel()
	}
	if taken > 1+view.MatchBatch || !errors.Is(last, context.Canceled) {
		t.Errorf("%s: cancelled at its first row, it went on to row %d: %v", name, taken, last)
	}
}
