package cluster

import (
	"bytes"
	"context"
	"errors"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
)

// foundPairs yields the pairs of a join, A < B bytewise, until yield returns false.
type foundPairs func(yield func(a, b string, m view.Match) bool)

// Pairs returns every pair of visible documents that match by the criterion, ordered by
// decreasing similarity, then by A, then by B. It holds the pairs in memory; the error is
// TooLarge if they exceed the memory of a query.
func Pairs(ctx context.Context, v *view.View, by view.Criterion, progress func(view.Progress)) (found foundPairs, err error) {
	err = joined(ctx, v, by, progress, func(j *joinSet) error {
		var ranks *idRanks
		c := j.collection(ctx)
		c.Rank = func(ctx context.Context, in collection.ItemSet) (of func(item uint32) uint32, n int, err error) {
			if ranks, of, err = j.rank(ctx, in); err != nil {
				return nil, 0, err
			}
			return of, len(ranks.ids), nil
		}
		pairs, err := c.Pairs(ctx, v.Memory, func() error { return v.OverBudget("pairs") })
		found = func(yield func(a, b string, m view.Match) bool) {
			for p := range pairs {
				var a, b uint32
				if j.sketches != nil {
					a, b = ranks.items[p.A], ranks.items[p.B]
				}
				m := j.match(a, b, p.Match)
				if m.ID = ranks.ids[p.B]; !yield(ranks.ids[p.A], m.ID, m) {
					return
				}
			}
		}
		return err
	})
	return found, err
}

// EachPair calls fn for every pair as it is found, until fn returns false.
func EachPair(ctx context.Context, v *view.View, by view.Criterion, progress func(view.Progress), fn func(a, b string, m view.Match) bool) error {
	return joined(ctx, v, by, progress, func(j *joinSet) error {
		var failed error
		err := j.collection(ctx).EachPair(ctx, func(x, y uint32, match float64) bool {
			var a, b []byte
			if a, failed = j.place(x).ID(); failed == nil {
				b, failed = j.place(y).ID()
			}
			if failed != nil {
				return false
			}
			if bytes.Compare(a, b) > 0 {
				a, b = b, a
			}
			m := j.match(x, y, match)
			m.ID = string(b)
			return fn(string(a), m.ID, m)
		})
		return errors.Join(err, failed)
	})
}

// CountPairs returns the number of pairs that match by the criterion. Documents with equal
// fingerprints, or by Jaccard with equal sets, are counted as a group, and no ID is read.
func CountPairs(ctx context.Context, v *view.View, by view.Criterion, progress func(view.Progress)) (n int64, err error) {
	err = joined(ctx, v, by, progress, func(j *joinSet) (err error) {
		n, err = j.collection(ctx).Count(ctx)
		return err
	})
	return n, err
}

// joined calls fn with the input of a self-join of the snapshot by a criterion.
func joined(ctx context.Context, v *view.View, by view.Criterion, progress func(view.Progress), fn func(*joinSet) error) error {
	return v.Safely(ctx, func() error {
		if err := v.CheckCriterion(by); err != nil {
			return err
		}
		j, err := newJoinSet(ctx, v, by, progress)
		if err != nil {
			return err
		}
		return fn(j)
	})
}

// collection returns the items in the form that joins need.
func (j *joinSet) collection(ctx context.Context) *collection.Collection {
	c := &collection.Collection{Items: j.items, Classes: j.classes, Fingerprints: j.fps, Docs: j.several, K: j.by.K, T: j.by.T}
	if !j.by.Near() {
		c.Sets = func(items []uint32) (*collection.Sets, error) { return j.setsOf(ctx, items) }
	}
	if j.progress != nil {
		c.Report = func(stage string, done, total int64) {
			p := view.Progress{Stage: stage, Done: done, Total: total}
			if total > 0 {
				p.Unit = "documents"
			}
			j.progress(p)
		}
	}
	return c
}
