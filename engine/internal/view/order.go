package view

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

// ErrStopped ends a search because the caller wants no more results.
var ErrStopped = errors.New("stopped")

// firstBatch is how many hits are sorted before the first is yielded; the others are sorted when
// the caller reads on. Most callers with a LIMIT read fewer, and with thousands of hits the sorting
// dominates the time.
const firstBatch = 64

// MatchBatch is how many hits are converted to matches at a time.
const MatchBatch = 1024

// First yields the first n of seq.
func First[T any](n int, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		left := n
		for v, err := range seq {
			if left--; !yield(v, err) || left == 0 {
				return
			}
		}
	}
}

// UntilDone yields seq until the context ends. Even if all rows have been found, the caller may
// need a long time to read them.
func UntilDone[T any](ctx context.Context, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// InOrder yields the matches of hits, in order. Hits refer to tables: they are read only within
// Safely. buf is a buffer for matches, which is empty afterwards.
func InOrder[T, M any](ctx context.Context, v *View, buf *[]M, hits []T, compare func(a, b T) int,
	match func(*T) M, yield func(M, error) bool) {
	if len(hits) == 0 { // as for most searches that ask whether a document is new
		if err := v.Usable(ctx); err != nil {
			var none M
			yield(none, err)
		}
		return
	}
	matches := (*buf)[:0]
	defer func() {
		clear(matches)
		*buf = matches[:0]
	}()
	err := v.Safely(ctx, func() error {
		best := ordered.Best(hits, firstBatch, compare)
		hits = hits[len(best):]
		matches = slices.Grow(matches, len(best))
		for i := range best {
			matches = append(matches, match(&best[i]))
		}
		return nil
	})
	var rest *ordered.Runs[T] // the other hits, sorted once the caller reads on
	for err == nil && len(matches) > 0 {
		for i := range matches {
			if !yield(matches[i], nil) {
				return
			}
		}
		clear(matches)
		matches = matches[:0]
		if len(hits) == 0 {
			return
		}
		err = v.Safely(ctx, func() (err error) {
			if rest == nil {
				if rest, err = ordered.Sort(ctx, hits, compare); err != nil {
					return err
				}
			}
			for len(matches) < MatchBatch {
				h, ok := rest.Next()
				if !ok {
					return nil
				}
				matches = append(matches, match(&h))
			}
			return nil
		})
	}
	if err != nil {
		var none M
		yield(none, err)
	}
}
