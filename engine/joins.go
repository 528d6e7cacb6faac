package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/cluster"
	"github.com/simdb/simdb/engine/internal/view"
)

// PairOptions are the options of Pairs.
type PairOptions struct {
	// Limit is the number of pairs after which to end; 0 means all. In order, about twice as
	// many pairs are held in memory if Limit is at most 65536, however many there are.
	Limit int
	// Unordered yields pairs as they are found: in an unspecified but reproducible order, and
	// without holding them in memory, however many there are. The snapshot's tables must stay
	// readable while the pairs are read.
	Unordered bool
	// Count, if not nil, is set to the number of pairs, regardless of Limit, and none is
	// yielded. Documents with equal fingerprints, or by Jaccard with equal sets, are counted as
	// a group, and no ID is read.
	Count    *int64
	Progress func(Progress) // called now and then; may be nil
}

// Pairs yields every pair of visible documents that match by the criterion, the best match first,
// then by A, then by B. It holds the pairs in memory, 16 bytes each (24 by Jaccard), the IDs of the
// documents in them, with about 90 bytes each in addition, and 20 to 50 bytes for every document
// (by estimated Jaccard 16 and its sketch; where texts decide about 120 for each, the texts, up to
// an eighth of Options.Memory, or by Jaccard the shingles, up to a quarter of it, and what finds
// pairs, up to half of it). More pairs than fit into Options.Memory are ErrTooLarge; with a Limit
// or Unordered there may be any number of them. IDs that are yielded share memory, 16 KiB or so:
// clone one that is to be kept for long. Other errors are as those of Near and Jaccard.
func (s *Snapshot) Pairs(ctx context.Context, by Criterion, opts ...*PairOptions) iter.Seq2[Pair, error] {
	o := given(opts)
	progress := progressTo(o.Progress)
	find := func() (func(yield func(a, b string, m view.Match) bool), error) {
		found, err := cluster.Pairs(ctx, &s.v, by.by, progress)
		return found, err
	}
	switch {
	case o.Count != nil:
		return view.UntilDone(ctx, func(yield func(Pair, error) bool) {
			n, err := cluster.CountPairs(ctx, &s.v, by.by, progress)
			if *o.Count = n; err != nil {
				yield(Pair{}, err)
			}
		})
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

// progressTo returns a function that passes what it is told to progress; nil if that is nil or left
// out.
func progressTo(progress ...func(Progress)) func(view.Progress) {
	if len(progress) == 0 || progress[0] == nil {
		return nil
	}
	return func(p view.Progress) { progress[0](Progress{p.Stage, p.Done, p.Total, ProgressUnit(p.Unit)}) }
}

// Clusters yields the members of all clusters of two or more visible documents that match by the
// criterion: the largest cluster first (of equally large ones the one whose keeper's ID is first),
// in each the keeper first, then by ID. It takes about 60 bytes a document where few match, and at
// most 200 however many do (by ClusterOptions.Before and by Jaccard the entry of each, or its
// sketch, in addition). Of an allowed pair (DB.SetAllowed) neither document joins the other: both
// may join a third one, and in mode Components a chain of others may connect them. Documents in
// such pairs are taken one by one in every mode. Errors are as those of Near and Jaccard.
func (s *Snapshot) Clusters(ctx context.Context, by Criterion, opts ...*ClusterOptions) iter.Seq2[Member, error] {
	o := given(opts)
	return view.UntilDone(ctx, func(yield func(Member, error) bool) {
		var err error
		if o.Count != nil {
			*o.Count, err = cluster.CountClusters(ctx, &s.v, by.by, o.internal())
		} else {
			err = cluster.EachMember(ctx, &s.v, by.by, o.internal(), func(number int, keep bool, m view.Match) bool {
				return yield(Member{number, keep, Match(m)}, nil)
			})
		}
		if err != nil {
			yield(Member{}, err)
		}
	})
}

// internal returns the options as package cluster takes them.
func (o *ClusterOptions) internal() cluster.Options {
	c := cluster.Options{Components: o.Mode == Components, Progress: progressTo(o.Progress)}
	if before := o.Before; before != nil {
		c.Before = func(a, b view.Entry) bool { return before(Entry(a), Entry(b)) }
	}
	return c
}

// IDPair is the IDs of two documents. The order of the two has no meaning.
type IDPair struct{ A, B string }

// SetAllowed records, or removes the record, that the two documents of each pair are not
// duplicates of each other although they may be similar. From then on Clusters puts neither
// under the other and PutNovel does not reject one because of the other; Near, Jaccard and
// Pairs, which find what is similar, still find them. The record is of IDs: it holds for
// whatever is stored under them, now or later. Pack includes the pairs, and Ingest adds them to
// those of the database. All pairs are durable when SetAllowed returns nil, and nothing is
// changed otherwise. Recording a pair again changes nothing; removing one that is not recorded
// is ErrNotFound. An ID paired with itself is ErrInvalid.
func (db *DB) SetAllowed(ctx context.Context, allowed bool, pairs ...IDPair) error {
	of := make([]view.IDPair, len(pairs))
	for i, p := range pairs {
		of[i] = view.IDPair(p)
	}
	return db.s.SetAllowed(ctx, allowed, of)
}

// Allowed yields the pairs that SetAllowed had recorded when the snapshot was taken, in order,
// each with the smaller ID first.
func (s *Snapshot) Allowed() iter.Seq[IDPair] {
	return func(yield func(IDPair) bool) {
		for _, p := range s.v.Allowed.All() {
			if !yield(IDPair(p)) {
				return
			}
		}
	}
}
