package cluster

import (
	"bytes"
	"context"
	"errors"

	"github.com/simdb/simdb/engine/internal/view"
)

// Pairs returns every pair of visible documents that match by the criterion, the best match first,
// then by A, then by B. It holds them in memory; TooLarge if they are more than a query may hold.
func Pairs(ctx context.Context, v *view.View, by view.Criterion, progress func(view.Progress)) (found foundPairs, err error) {
	err = joined(ctx, v, by, func(j *joinSet) (err error) {
		if !by.Near() {
			found, err = j.scoredPairs(ctx, by, progress)
		} else {
			found, err = j.pairs(ctx, by, progress)
		}
		return err
	})
	return found, err
}

// EachPair calls fn for every pair as it is found, until it returns false.
func EachPair(ctx context.Context, v *view.View, by view.Criterion, progress func(view.Progress), fn func(a, b string, m view.Match) bool) error {
	return joined(ctx, v, by, func(j *joinSet) error { return j.eachPair(ctx, by, progress, fn) })
}

// joined calls fn with what a self-join of the snapshot by a criterion works on.
func joined(ctx context.Context, v *view.View, by view.Criterion, fn func(*joinSet) error) error {
	return v.Safely(ctx, func() error {
		if err := v.CheckCriterion(by); err != nil {
			return err
		}
		j, err := newJoinSet(ctx, v, by)
		if err != nil {
			return err
		}
		return fn(j)
	})
}

// eachPair calls fn for every pair, as they are found, until it returns false.
func (j *joinSet) eachPair(ctx context.Context, by view.Criterion, progress func(view.Progress), fn func(a, b string, m view.Match) bool) error {
	var failed error
	err := j.eachItemPair(ctx, by, progress, func(l *link) bool {
		var a, b []byte
		if a, failed = j.place(l.a).ID(); failed == nil {
			b, failed = j.place(l.b).ID()
		}
		if failed != nil {
			return false
		}
		if bytes.Compare(a, b) > 0 {
			a, b = b, a
		}
		m := l.match(string(b))
		return fn(string(a), m.ID, m)
	})
	return errors.Join(err, failed)
}
