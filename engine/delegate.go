package engine

import (
	"context"
	"iter"
)

// The methods below answer from a Snapshot taken when they are called, or when their iteration
// begins. They return ErrClosed once the DB is closed; other errors are those of the Snapshot's
// methods.

// Get returns the document with this ID whole, as it is now. ErrNotFound if there is none.
func (db *DB) Get(ctx context.Context, id string) (Doc, error) {
	return withSnapshot(db, func(s *Snapshot) (Doc, error) { return s.Get(ctx, id) })
}

// Lookup returns what the indexes know now of the document with this ID, without reading its text.
// ErrNotFound if there is none.
func (db *DB) Lookup(ctx context.Context, id string) (Entry, error) {
	return withSnapshot(db, func(s *Snapshot) (Entry, error) { return s.Lookup(ctx, id) })
}

// Jaccard yields every document whose estimated Jaccard similarity to doc is t or more, 0 < t <= 1:
// the most similar first, then by ID. What is looked for is doc.Text, or, if that is empty, the
// stored document doc.ID. Errors are as those of Snapshot.Jaccard.
func (db *DB) Jaccard(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Jaccard(ctx, doc, t) })
}

// JaccardVerified yields what Jaccard does with the scores computed from the texts: every score is
// exact, and t or more. The database must keep texts (ErrParams).
func (db *DB) JaccardVerified(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.JaccardVerified(ctx, doc, t) })
}

// Nearest yields the n documents nearest to fp (all, if there are fewer): nearest first, then by
// ID.
func (db *DB) Nearest(ctx context.Context, fp Fingerprint, n int) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Nearest(ctx, fp, n) })
}

// Entries yields every document whose ID starts with prefix, without its text, in order of ID.
func (db *DB) Entries(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Entry, error] { return s.Entries(ctx, prefix) })
}

// Pairs yields every pair of documents that match by the criterion, the best match first, then by
// A, then by B. Snapshot.Pairs says what memory that takes; more pairs than fit are ErrTooLarge.
func (db *DB) Pairs(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Pair, error] { return s.Pairs(ctx, by, progress) })
}

// PairsUnordered yields what Pairs does as pairs are found, in no particular order, without holding
// them in memory.
func (db *DB) PairsUnordered(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Pair, error] { return s.PairsUnordered(ctx, by, progress) })
}

// CountPairs returns how many pairs Pairs yields. It reads no IDs.
func (db *DB) CountPairs(ctx context.Context, by Criterion, progress func(Progress)) (int64, error) {
	return withSnapshot(db, func(s *Snapshot) (int64, error) { return s.CountPairs(ctx, by, progress) })
}

// CountClusters returns how many clusters Clusters yields, and how many members they have in all.
func (db *DB) CountClusters(ctx context.Context, by Criterion, o *ClusterOptions) (clusters, members int64, err error) {
	s, err := db.Snapshot()
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	return s.CountClusters(ctx, by, o)
}

// Clusters yields the members of all clusters of two or more documents that match by the criterion:
// the largest cluster first, in each the keeper first, then by ID. A nil o is the zero
// ClusterOptions.
func (db *DB) Clusters(ctx context.Context, by Criterion, o *ClusterOptions) iter.Seq2[Member, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Member, error] { return s.Clusters(ctx, by, o) })
}

// PlanNear returns how Near(fp, k) would be carried out on the database as it is now. The error is
// ErrInvalid for k outside 0..64, ErrClosed, or that of the context.
func (db *DB) PlanNear(ctx context.Context, fp Fingerprint, k int) (NearPlan, error) {
	return withSnapshot(db, func(s *Snapshot) (NearPlan, error) { return s.PlanNear(ctx, fp, k) })
}

func withSnapshot[T any](db *DB, fn func(*Snapshot) (T, error)) (T, error) {
	s, err := db.Snapshot()
	if err != nil {
		var zero T
		return zero, err
	}
	defer s.Close()
	return fn(s)
}

func iterSnapshot[T any](db *DB, fn func(*Snapshot) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		s, err := db.Snapshot()
		if err != nil {
			var zero T
			yield(zero, err)
			return
		}
		defer s.Close()
		fn(s)(yield)
	}
}
