package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/must"
)

// TestCancelRows cancels the context while the caller reads the rows of a search that has already
// found all rows.
func TestCancelRows(t *testing.T) {
	db, _ := create4test(t, &Options{NoSync: true})
	doc := Doc{Text: "one two three four five six seven eight"}
	for i := range 1500 {
		doc.ID = fmt.Sprint(i)
		must.Do(t, db.Put(t.Context(), doc))
		if i == 700 {
			must.Do(t, db.Flush(t.Context()))
		}
	}
	s := snapshot4test(t, db)
	d := must.Get(s.Get(t.Context(), "1"))(t)
	fp := d.Fingerprints[0][0]
	type ctxt = context.Context
	cancelAtFirst(t, "near", func(ctx ctxt) iter.Seq2[Match, error] { return s.Search(ctx, ofPrint(fp), Near(3), nil) })
	cancelAtFirst(t, "first near", func(ctx ctxt) iter.Seq2[Match, error] {
		return s.Search(ctx, ofPrint(fp), Near(3), &SearchOptions{Limit: 1400})
	})
	cancelAtFirst(t, "near unordered", func(ctx ctxt) iter.Seq2[Match, error] {
		return s.Search(ctx, ofPrint(fp), Near(3), &SearchOptions{Unordered: true})
	})
	cancelAtFirst(t, "nearest", func(ctx ctxt) iter.Seq2[Match, error] {
		return s.Search(ctx, ofPrint(fp), Near(64), &SearchOptions{Limit: 1400})
	})
	cancelAtFirst(t, "near batch", func(ctx ctxt) iter.Seq2[Match, error] {
		return s.SearchBatch(ctx, ofPrints([]uint64{fp}), Near(3), nil)
	})
	cancelAtFirst(t, "jaccard", func(ctx ctxt) iter.Seq2[Match, error] { return s.Search(ctx, doc, Jaccard(0.5).Estimated(), nil) })
	cancelAtFirst(t, "verified", func(ctx ctxt) iter.Seq2[Match, error] { return s.Search(ctx, doc, Jaccard(0.5), nil) })
	cancelAtFirst(t, "entries", func(ctx ctxt) iter.Seq2[entry, error] { return entriesIn(ctx, s, Range{}) })
	for _, by := range []Criterion{Near(3), Jaccard(0.5).Estimated(), Jaccard(0.5)} {
		for _, n := range []int{5000, search.MostFirst + 1} {
			cancelAtFirst(t, fmt.Sprint("first pairs ", by, n), func(ctx ctxt) iter.Seq2[Pair, error] { return s.Pairs(ctx, by, &SearchOptions{Limit: n}) })
		}
		cancelAtFirst(t, fmt.Sprint("pairs ", by), func(ctx ctxt) iter.Seq2[Pair, error] { return s.Pairs(ctx, by, nil) })
		cancelAtFirst(t, fmt.Sprint("unordered ", by), func(ctx ctxt) iter.Seq2[Pair, error] { return s.Pairs(ctx, by, &SearchOptions{Unordered: true}) })
		for _, mode := range []bool{false, true} {
			cancelAtFirst(t, fmt.Sprint("clusters ", by, mode), func(ctx ctxt) iter.Seq2[Member, error] {
				return s.Clusters(ctx, by, &ClusterOptions{Components: mode})
			})
		}
	}
}

// cancelAtFirst cancels the context of a search at its first row.
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
