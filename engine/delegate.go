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

// Search yields what Snapshot.Search does, of the database as it is when the iteration begins.
func (db *DB) Search(ctx context.Context, doc Doc, by Criterion, opts ...SearchOption) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Search(ctx, doc, by, opts...) })
}

// SearchBatch yields what Snapshot.SearchBatch does, of the database as it is when the iteration
// begins.
func (db *DB) SearchBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[BatchMatch, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[BatchMatch, error] { return s.SearchBatch(ctx, docs, by) })
}

// Jaccard yields every document whose estimated Jaccard similarity to doc is t or more, 0 < t <= 1:
// the most similar first, then by ID. What is looked for is doc.Text, or, if that is empty, the
// stored document doc.ID. Errors are as those of Snapshot.Search.
func (db *DB) Jaccard(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Search(ctx, doc, Jaccard(t)) })
}

// Entries yields the documents that f selects, without their texts; Snapshot.Entries says more.
func (db *DB) Entries(ctx context.Context, f EntryFilter) iter.Seq2[Entry, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Entry, error] { return s.Entries(ctx, f) })
}

// Pairs yields every pair of documents that match by the criterion, the best match first, then by
// A, then by B. Snapshot.Pairs says what memory that takes; more pairs than fit are ErrTooLarge.
func (db *DB) Pairs(ctx context.Context, by Criterion, o *PairOptions) iter.Seq2[Pair, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Pair, error] { return s.Pairs(ctx, by, o) })
}

// Clusters yields the members of all clusters of two or more documents that match by the criterion:
// the largest cluster first, in each the keeper first, then by ID. A nil o is the zero
// ClusterOptions.
func (db *DB) Clusters(ctx context.Context, by Criterion, o *ClusterOptions) iter.Seq2[Member, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Member, error] { return s.Clusters(ctx, by, o) })
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
