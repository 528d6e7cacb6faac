package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/cluster"
	"github.com/simdb/simdb/engine/internal/view"
)

// PairOptions are the options of Pairs. Nil stands for the zero value.
type PairOptions struct {
	// Limit ends with the first pairs, as many; 0 for all. In order it holds about twice as many,
	// if it is at most 65536, however many there are.
	Limit int
	// Unordered has pairs come as they are found: in no particular order, though always in the
	// same, and without holding them in memory, however many there are. The snapshot's tables must
	// stay readable while the pairs are taken.
	Unordered bool
	Progress  func(Progress) // called now and then; may be nil
}

// Pairs yields every pair of visible documents that match by the criterion, the best match first,
// then by A, then by B. It holds the pairs in memory, 16 bytes each (40 by Jaccard), the IDs of the
// documents in them, with about 90 bytes each in addition, and 20 to 50 bytes for every document
// (by estimated Jaccard 16 and its sketch; where texts decide about 120 for each, the texts, up to
// an eighth of Options.Memory, or by Jaccard the shingles, up to a quarter of it, and what finds
// pairs, up to half of it). More pairs than fit into Options.Memory are ErrTooLarge; with a Limit
// or Unordered there may be any number of them. IDs that are yielded share memory, 16 KiB or so:
// clone one that is to be kept for long. Other errors are as those of Near and Jaccard.
func (s *Snapshot) Pairs(ctx context.Context, by Criterion, o *PairOptions) iter.Seq2[Pair, error] {
	if o == nil {
		o = &PairOptions{}
	}
	progress := progressTo(o.Progress)
	find := func() (func(yield func(a, b string, m view.Match) bool), error) {
		found, err := cluster.Pairs(ctx, &s.v, by.by, progress)
		return found, err
	}
	switch {
	case o.Unordered:
		found := s.pairsUnordered(ctx, by, progress)
		if o.Limit > 0 {
			found = view.First(o.Limit, found)
		}
		return found
	case o.Limit > cluster.MostFirst(&s.v):
		return view.First(o.Limit, s.Pairs(ctx, by, &PairOptions{Progress: o.Progress}))
	case o.Limit > 0:
		find = func() (func(yield func(a, b string, m view.Match) bool), error) {
			found, err := cluster.FirstPairs(ctx, &s.v, by.by, o.Limit, progress)
			return found, err
		}
	}
	return view.UntilDone(ctx, func(yield func(Pair, error) bool) {
		found, err := find()
		if err != nil {
			yield(Pair{}, err)
			return
		}
		found(func(a, b string, m view.Match) bool { return yield(Pair{A: a, B: b, Match: Match(m)}, nil) })
	})
}

// pairsUnordered is Pairs without order.
func (s *Snapshot) pairsUnordered(ctx context.Context, by Criterion, progress func(view.Progress)) iter.Seq2[Pair, error] {
	return view.UntilDone(ctx, func(yield func(Pair, error) bool) {
		more := true
		err := cluster.EachPair(ctx, &s.v, by.by, progress, func(a, b string, m view.Match) bool {
			more = yield(Pair{A: a, B: b, Match: Match(m)}, nil)
			return more
		})
		if err != nil && more {
			yield(Pair{}, err)
		}
	})
}

// CountPairs returns how many pairs Pairs yields. Documents of equal fingerprint, or by Jaccard of
// equal sets, are counted as a group, and no ID is read.
func (s *Snapshot) CountPairs(ctx context.Context, by Criterion, progress func(Progress)) (int64, error) {
	return cluster.CountPairs(ctx, &s.v, by.by, progressTo(progress))
}

// progressTo returns a function that passes what it is told to progress; nil if progress is.
func progressTo(progress func(Progress)) func(view.Progress) {
	if progress == nil {
		return nil
	}
	return func(p view.Progress) { progress(Progress(p)) }
}
