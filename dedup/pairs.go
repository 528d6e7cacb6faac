package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
)

// newCollection returns a collection whose field corpus is not set yet.
func newCollection(what string, o *Options, can func(corpus.Criterion) bool) *Collection {
	c := &Collection{what: what, can: can}
	if o != nil {
		c.o = *o
	}
	c.o.Memory = cmp.Or(max(c.o.Memory, 0), 1<<30)
	if c.o.Progress == nil {
		c.o.Progress = func(engine.Progress) {}
	}
	return c
}

// isNear reports whether a criterion is Near.
func isNear(by corpus.Criterion) bool { return !by.Sets }

// checkBits returns an error if distance k exceeds the width of fingerprints.
func checkBits(k, bits int) error {
	if k > bits {
		return fmt.Errorf("a distance of %d bits is outside 0..%d: %w", k, bits, engine.ErrInvalid)
	}
	return nil
}

// with calls use with the items in the form that a criterion compares.
func (c *Collection) with(ctx context.Context, by engine.Criterion, use func(*corpus.Listing, corpus.Criterion, corpus.JoinOptions) error) (err error) {
	crit, err := corpus.CriterionOf(by)
	if err != nil || c.corpus == nil {
		return err
	}
	if !c.can(crit) {
		return fmt.Errorf("%s cannot be compared by %v: %w", c.what, by, engine.ErrInvalid)
	}
	items, err := c.corpus(ctx, crit, &c.o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, items.Close()) }()
	l := &corpus.Listing{Corpus: items}
	if c.o.Prefer != nil {
		l.Order = make([]uint32, items.N)
		for i := range l.Order {
			l.Order[i] = uint32(i)
		}
		slices.SortStableFunc(l.Order, func(a, b uint32) int { return c.o.Prefer(int(a), int(b)) })
	}
	return use(l, crit, corpus.JoinOptions{Memory: c.o.Memory, Progress: c.o.Progress})
}

// Pairs yields every pair of items that match by a criterion, once: ordered by decreasing
// similarity, then by A, then by B. If the pairs do not fit into a quarter of Options.Memory, the
// error is engine.ErrTooLarge, unless Options.Unordered is set. If the criterion does not apply
// to the items, the error is engine.ErrInvalid: a distance beyond the width of fingerprints, a
// similarity outside 0 < t <= 1, or a criterion of texts for items that are not texts. An error
// is yielded last.
func (c *Collection) Pairs(ctx context.Context, by engine.Criterion) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		going := true
		err := c.with(ctx, by, func(l *corpus.Listing, by corpus.Criterion, o corpus.JoinOptions) error {
			for p, err := range l.Pairs(ctx, by, c.o.Unordered, o) {
				if err != nil {
					return err
				}
				m := by.Of("", p.Match)
				if going = yield(Pair{int(p.A), int(p.B), m.Distance, m.Score}, nil); !going {
					break
				}
			}
			return nil
		})
		if going && err != nil {
			yield(Pair{}, err)
		}
	}
}

// CountPairs returns how many pairs Pairs yields. It counts the pairs of equal items in bulk.
func (c *Collection) CountPairs(ctx context.Context, by engine.Criterion) (n int64, err error) {
	err = c.with(ctx, by, func(l *corpus.Listing, by corpus.Criterion, o corpus.JoinOptions) (err error) {
		n, err = l.CountPairs(ctx, by, o)
		return err
	})
	return n, err
}

// Clusters yields all clusters of items that match by a criterion, ordered by decreasing size, then
// by the number of the item to keep. Every item of a cluster matches the item to
// keep. With Contains and Within it is contained in it: the larger of two items is preferred, and
// among equally large items Options.Prefer decides. With components, chains of matches
// connect the items. It returns the errors of Pairs.
func (c *Collection) Clusters(ctx context.Context, by engine.Criterion, components bool) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		going := true
		err := c.with(ctx, by, func(l *corpus.Listing, by corpus.Criterion, o corpus.JoinOptions) error {
			found, err := l.Clusters(ctx, by, components, o)
			if err != nil {
				return err
			}
			var cluster Cluster
			for m, err := range found.All(ctx) {
				if err != nil {
					return err
				}
				if m.Keep && cluster != nil {
					if going = yield(cluster, nil); !going {
						return nil
					}
					cluster = nil
				}
				of := by.Of("", m.Match)
				cluster = append(cluster, Member{int(m.N), of.Distance, of.Score})
			}
			if cluster != nil {
				going = yield(cluster, nil)
			}
			return nil
		})
		if going && err != nil {
			yield(nil, err)
		}
	}
}
