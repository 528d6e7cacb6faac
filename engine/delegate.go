package engine

import (
	"context"
	"iter"
)

// The reading methods of DB are those of a Snapshot taken when they are called, or when their iteration begins.

// Get is Snapshot.Get now.
func (db *DB) Get(ctx context.Context, id string) (Doc, error) {
	return withSnapshot(db, func(s *Snapshot) (Doc, error) { return s.Get(ctx, id) })
}

// Lookup is Snapshot.Lookup now.
func (db *DB) Lookup(ctx context.Context, id string) (Entry, error) {
	return withSnapshot(db, func(s *Snapshot) (Entry, error) { return s.Lookup(ctx, id) })
}

// Jaccard is Snapshot.Jaccard now.
func (db *DB) Jaccard(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Jaccard(ctx, doc, t) })
}

// JaccardVerified is Snapshot.JaccardVerified now.
func (db *DB) JaccardVerified(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.JaccardVerified(ctx, doc, t) })
}

// Nearest is Snapshot.Nearest now.
func (db *DB) Nearest(ctx context.Context, fp uint64, n int) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Nearest(ctx, fp, n) })
}

// Entries is Snapshot.Entries now.
func (db *DB) Entries(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Entry, error] { return s.Entries(ctx, prefix) })
}

// Pairs is Snapshot.Pairs now.
func (db *DB) Pairs(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Pair, error] { return s.Pairs(ctx, by, progress) })
}

// PairsUnordered is Snapshot.PairsUnordered now.
func (db *DB) PairsUnordered(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Pair, error] { return s.PairsUnordered(ctx, by, progress) })
}

// CountPairs is Snapshot.CountPairs now.
func (db *DB) CountPairs(ctx context.Context, by Criterion, progress func(Progress)) (int64, error) {
	return withSnapshot(db, func(s *Snapshot) (int64, error) { return s.CountPairs(ctx, by, progress) })
}

// CountClusters is Snapshot.CountClusters now.
func (db *DB) CountClusters(ctx context.Context, by Criterion, o *ClusterOptions) (clusters, members int64, err error) {
	s, err := db.Snapshot()
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	return s.CountClusters(ctx, by, o)
}

// Clusters is Snapshot.Clusters now.
func (db *DB) Clusters(ctx context.Context, by Criterion, o *ClusterOptions) iter.Seq2[Member, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Member, error] { return s.Clusters(ctx, by, o) })
}

// PlanNear returns how Near(fp, k) would be carried out on the database as it is now. The error is
// ErrInvalid for k outside 0..64, ErrClosed, or that of the context.
func (db *DB) PlanNear(ctx context.Context, fp uint64, k int) (NearPlan, error) {
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
