package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/cluster"
	"github.com/simdb/simdb/engine/internal/view"
)

// Pairs yields every pair of visible documents that match by the criterion, the best match first,
// then by A, then by B. It holds the pairs in memory, 16 bytes each (40 by Jaccard), the IDs of
// the documents in them, with about 90 bytes each in addition, and 20 to 50 bytes for every
// document (by estimated Jaccard 16 and its sketch; where texts decide about 120 for each, the
// texts, up to an eighth of Options.Memory, or by Jaccard the shingles, up to a quarter of it, and
// what finds pairs, up to half of it). More pairs than fit into Options.Memory are
// ErrTooLarge; PairsFirst and PairsUnordered take any number of them. Progress, if not nil, is
// called now and then. IDs that are yielded share memory, 16 KiB or so: clone one that is to be
// kept for long. Other errors are as those of Near and Jaccard.
func (s *Snapshot) Pairs(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return view.UntilDone(ctx, func(yield func(Pair, error) bool) {
		found, err := cluster.Pairs(ctx, &s.v, by.by, progressTo(progress))
		if err != nil {
			yield(Pair{}, err)
			return
		}
		found(yieldPair(yield))
	})
}

// PairsFirst yields the first n pairs of Pairs. It holds about twice as many, if n is at most
// 65536, however many there are.
func (s *Snapshot) PairsFirst(ctx context.Context, by Criterion, n int, progress func(Progress)) iter.Seq2[Pair, error] {
	if n > cluster.MostFirst(&s.v) {
		return view.First(n, s.Pairs(ctx, by, progress))
	}
	return view.UntilDone(ctx, func(yield func(Pair, error) bool) {
		found, err := cluster.FirstPairs(ctx, &s.v, by.by, n, progressTo(progress))
		if err != nil {
			yield(Pair{}, err)
			return
		}
		found(yieldPair(yield))
	})
}

// PairsUnordered yields what Pairs does as pairs are found: in no particular order, though always
// in the same, and without holding them in memory, however many there are. The snapshot's tables
// must stay readable while the pairs are taken.
func (s *Snapshot) PairsUnordered(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return view.UntilDone(ctx, func(yield func(Pair, error) bool) {
		goOn := true
		err := cluster.EachPair(ctx, &s.v, by.by, progressTo(progress), func(a, b string, m view.Match) bool {
			goOn = yield(Pair{A: a, B: b, Match: Match(m)}, nil)
			return goOn
		})
		if err != nil && goOn {
			yield(Pair{}, err)
		}
	})
}

// CountPairs returns how many pairs Pairs yields. Documents of equal fingerprint, or by Jaccard of
// equal sets, are counted as a group, and no ID is read.
func (s *Snapshot) CountPairs(ctx context.Context, by Criterion, progress func(Progress)) (int64, error) {
	return cluster.CountPairs(ctx, &s.v, by.by, progressTo(progress))
}

// yieldPair returns a function that yields a pair.
func yieldPair(yield func(Pair, error) bool) func(a, b string, m view.Match) bool {
	return func(a, b string, m view.Match) bool { return yield(Pair{A: a, B: b, Match: Match(m)}, nil) }
}

// progressTo returns a function that passes what it is told to progress; nil if progress is.
func progressTo(progress func(Progress)) func(view.Progress) {
	if progress == nil {
		return nil
	}
	return func(p view.Progress) { progress(Progress(p)) }
}
