package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/cluster"
	"github.com/simdb/simdb/engine/internal/view"
)

// PairOptions are the options of Pairs.
type PairOptions struct {
	// Limit ends the iteration after this many pairs; 0 means all. An ordered iteration with a
	// Limit of at most 65536 holds about twice that many pairs in memory, however many match.
	Limit int
	// Unordered yields pairs as they are found, in an unspecified but reproducible order, without
	// holding them in memory. The snapshot's tables must stay readable while the pairs are read.
	Unordered bool
	// Count, if not nil, is set to the number of pairs, regardless of Limit; then no pairs are
	// yielded. Documents with equal fingerprints, or by Jaccard with equal sets, are counted as a
	// group, and no IDs are read.
	Count    *int64
	Progress func(Progress) // called now and then; may be nil
}

// Pairs yields every pair of visible documents that match by the criterion, the best match first,
// then by A, then by B.
//
// It holds in memory: each pair, in 16 bytes (24 by Jaccard); the ID of each document in a pair,
// with about 90 bytes of overhead; and 20 to 50 bytes for every document. By estimated Jaccard
// every document needs 16 bytes and its sketch instead. If texts decide, every document needs about
// 120 bytes; the texts need up to an eighth of Options.Memory (by Jaccard, the shingles up to a
// quarter), and the search for pairs up to half. If the pairs exceed Options.Memory, the error is
// ErrTooLarge; with a Limit or Unordered there may be any number of pairs.
//
// The yielded IDs are substrings of shared blocks of about 16 KiB: clone an ID that must live long.
// Other errors are those of Near and Jaccard.
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

// pairsUnordered is Pairs with PairOptions.Unordered.
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

// progressTo converts a callback of the API to one of package view. It returns nil if progress is
// nil or left out.
func progressTo(progress ...func(Progress)) func(view.Progress) {
	if len(progress) == 0 || progress[0] == nil {
		return nil
	}
	return func(p view.Progress) { progress[0](Progress{p.Stage, p.Done, p.Total, ProgressUnit(p.Unit)}) }
}

// Clusters yields the members of all clusters of two or more visible documents that match by the
// criterion. The largest cluster comes first; of equally large clusters, the one whose keeper has
// the smaller ID. Within a cluster the keeper comes first, then the others by ID. Clusters needs
// about 60 bytes per document if few match, and never more than 200; by ClusterOptions.Before it
// also holds the entry of each document, and by Jaccard its sketch. If a pair is allowed
// (DB.SetAllowed), neither of its documents joins the other. Both may still join a third document,
// and in mode Components a chain of other documents may connect them. In every mode, documents in
// allowed pairs are clustered individually even if their fingerprints are equal. Errors are those
// of Near and Jaccard.
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

// internal converts the options to those of package cluster.
func (o *ClusterOptions) internal() cluster.Options {
	c := cluster.Options{Components: o.Mode == Components, Progress: progressTo(o.Progress)}
	if before := o.Before; before != nil {
		c.Before = func(a, b view.Entry) bool { return before(Entry(a), Entry(b)) }
	}
	return c
}

// IDPair is the IDs of two documents, in any order.
type IDPair struct{ A, B string }

// SetAllowed records that the two documents of each pair are not duplicates of each other although
// they may be similar, or removes that record if allowed is false. While the record exists,
// Clusters puts neither document under the other, and PutNovel does not reject one because of the
// other. Near, Jaccard and Pairs search for similar documents, and still find them. The record
// concerns IDs: it applies to any documents stored under them, now or later. Pack includes the
// pairs, and Ingest adds them to those of the database. When SetAllowed returns nil, all pairs are
// durable; otherwise nothing has changed. Recording a pair again changes nothing; removing a pair
// that is not recorded is ErrNotFound. Pairing an ID with itself is ErrInvalid.
func (db *DB) SetAllowed(ctx context.Context, allowed bool, pairs ...IDPair) error {
	inner := make([]view.IDPair, len(pairs))
	for i, p := range pairs {
		inner[i] = view.IDPair(p)
	}
	return db.s.SetAllowed(ctx, allowed, inner)
}

// Allowed yields the pairs that SetAllowed had recorded when the snapshot was created, in order,
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
