package engine

import (
	"cmp"
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/cluster"
	"github.com/simdb/simdb/engine/internal/view"
)

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
// Other errors are as for Near and Jaccard.
func (r *Reader) Pairs(ctx context.Context, by Criterion, o *SearchOptions) iter.Seq2[Pair, error] {
	return each(ctx, r, func(s *Snapshot) iter.Seq2[Pair, error] { return s.pairs(ctx, by, *cmp.Or(o, &SearchOptions{})) })
}

func (s *Snapshot) pairs(ctx context.Context, by Criterion, o SearchOptions) iter.Seq2[Pair, error] {
	progress := progressTo(o.Progress)
	switch {
	case o.Unordered:
		found := s.pairsUnordered(ctx, by, progress)
		if o.Limit > 0 {
			found = view.First(o.Limit, found)
		}
		return found
	case o.Limit > cluster.MostFirst(&s.v):
		return view.First(o.Limit, s.pairs(ctx, by, SearchOptions{Progress: o.Progress}))
	}
	return view.UntilDone(ctx, func(yield func(Pair, error) bool) {
		var found func(yield func(a, b string, m view.Match) bool)
		var err error
		if o.Limit > 0 {
			found, err = cluster.FirstPairs(ctx, &s.v, by.in(s.v.Config), o.Limit, progress)
		} else {
			found, err = cluster.Pairs(ctx, &s.v, by.in(s.v.Config), progress)
		}
		if err != nil {
			yield(Pair{}, err)
			return
		}
		found(func(a, b string, m view.Match) bool { return yield(Pair{A: a, B: b, Match: Match(m)}, nil) })
	})
}

// CountPairs returns how many pairs Pairs yields, whatever the Limit. Documents with equal
// fingerprints, or by Jaccard with equal sets, are counted as a group, and no IDs are read.
func (r *Reader) CountPairs(ctx context.Context, by Criterion, o *SearchOptions) (int64, error) {
	return read(ctx, r, func(s *Snapshot) (int64, error) {
		return cluster.CountPairs(ctx, &s.v, by.in(s.v.Config), progressTo(cmp.Or(o, &SearchOptions{}).Progress))
	})
}

// pairsUnordered is Pairs with SearchOptions.Unordered.
func (s *Snapshot) pairsUnordered(ctx context.Context, by Criterion, progress func(view.Progress)) iter.Seq2[Pair, error] {
	return view.UntilDone(ctx, func(yield func(Pair, error) bool) {
		more := true
		err := cluster.EachPair(ctx, &s.v, by.in(s.v.Config), progress, func(a, b string, m view.Match) bool {
			more = yield(Pair{A: a, B: b, Match: Match(m)}, nil)
			return more
		})
		if err != nil && more {
			yield(Pair{}, err)
		}
	})
}

// progressTo converts a callback of the API to one of package view, and nil to nil.
func progressTo(progress func(Progress)) func(view.Progress) {
	if progress == nil {
		return nil
	}
	return func(p view.Progress) { progress(Progress(p)) }
}

// Clusters yields the members of all clusters of two or more visible documents that match by the
// criterion. The largest cluster comes first; of equally large clusters, the one whose keeper has
// the smaller ID. Within a cluster the keeper comes first, then the others by ID. Clusters needs
// about 60 bytes per document if few match, and never more than 200; with ClusterOptions.Before it
// also holds the ID, time and Seq of each document, and by Jaccard its sketch. If a pair is allowed
// (DB.SetAllowed), neither of its documents joins the other. Both may still join a third document,
// and in mode Components a chain of other documents may connect them. In every mode, documents in
// allowed pairs are clustered individually even if their fingerprints are equal. Errors are as for
// Near and Jaccard.
func (r *Reader) Clusters(ctx context.Context, by Criterion, o *ClusterOptions) iter.Seq2[Member, error] {
	o = cmp.Or(o, &ClusterOptions{})
	return each(ctx, r, func(s *Snapshot) iter.Seq2[Member, error] {
		if o.Of != "" {
			return s.clusterOf(ctx, by, o)
		}
		return s.clusters(ctx, by, o)
	})
}

func (s *Snapshot) clusters(ctx context.Context, by Criterion, o *ClusterOptions) iter.Seq2[Member, error] {
	return view.UntilDone(ctx, func(yield func(Member, error) bool) {
		err := cluster.EachMember(ctx, &s.v, by.in(s.v.Config), o.internal(), func(number int, keep bool, m view.Match) bool {
			return yield(Member{number, keep, Match(m)}, nil)
		})
		if err != nil {
			yield(Member{}, err)
		}
	})
}

// CountClusters returns the number of clusters that Clusters yields, without their members.
func (r *Reader) CountClusters(ctx context.Context, by Criterion, o *ClusterOptions) (int64, error) {
	o = cmp.Or(o, &ClusterOptions{})
	if o.Of != "" {
		for _, err := range r.Clusters(ctx, by, o) {
			if err != nil {
				return 0, err
			}
			return 1, nil
		}
		return 0, nil
	}
	return read(ctx, r, func(s *Snapshot) (int64, error) { return cluster.Count(ctx, &s.v, by.in(s.v.Config), o.internal()) })
}

// internal converts the options for package cluster.
func (o *ClusterOptions) internal() cluster.Options {
	c := cluster.Options{Components: o.Components, Progress: progressTo(o.Progress)}
	if before := o.Before; before != nil {
		c.Before = func(a, b view.Entry) bool {
			return before(Doc{ID: a.ID, Time: a.Time, Seq: a.Seq}, Doc{ID: b.ID, Time: b.Time, Seq: b.Seq})
		}
	}
	return c
}

// SetAllowed records that the two documents of each pair are not duplicates of each other although
// they may be similar, or removes that record if allowed is false. While the record exists,
// Clusters puts neither document under the other, and PutNovel does not reject one because of the
// other. Near, Jaccard and Pairs search for similar documents, and still find them. The record
// concerns IDs: it applies to any documents stored under them, now or later. Pack includes the
// pairs, and Ingest adds them to those of the database. When SetAllowed returns nil, all pairs are
// durable; otherwise nothing has changed. Recording a pair again changes nothing; removing a pair
// that is not recorded is ErrNotFound. Pairing an ID with itself is ErrInvalid. A and B of a pair may
// be in any order, and its Match has no effect.
func (db *DB) SetAllowed(ctx context.Context, allowed bool, pairs ...Pair) error {
	inner := make([]view.IDPair, len(pairs))
	for i, p := range pairs {
		inner[i] = view.IDPair{A: p.A, B: p.B}
	}
	return db.s.SetAllowed(ctx, allowed, inner)
}

// Allowed yields the pairs that SetAllowed had recorded when the snapshot was created, in order,
// each with the smaller ID first.
func (s *Snapshot) Allowed() iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for _, p := range s.v.Allowed.All() {
			if !yield(Pair{A: p.A, B: p.B}) {
				return
			}
		}
	}
}
