package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/search"
)

// Similar yields every visible document whose text is similar to doc.Text, or, if that is empty, to
// that of the stored document doc.ID, by Levenshtein(t) or Cosine(t): the most similar first, then
// by ID. It is complete, and scores are exact. The document that is stored as doc.ID is no match.
//
// It compares signatures of the texts, 48 bytes each, and then the texts that these do not rule
// out. Of short texts, of up to 200 runes or so, they rule out nearly all; of long ones by
// Levenshtein those of other lengths, by Cosine few. The first search makes the signatures of a
// table, for which it reads all its texts; they take up to half of Options.Memory in addition,
// until the table is merged or the database closed. Tables for which that is not enough are read
// each time.
//
// Errors are ErrInvalid for t and for another criterion, ErrParams if the database keeps no texts,
// ErrNotFound, ErrTooLarge for more documents than Options.Memory has room for, ErrClosed,
// *CorruptionError, and that of the context; an error is the last thing that is yielded.
func (s *Snapshot) Similar(ctx context.Context, doc Doc, by Criterion) iter.Seq2[Match, error] {
	return s.yieldJaccard(ctx, func(q *search.Jaccard) error { return q.FindSimilar(ctx, &s.v, doc.sample(), by.by) })
}

// Similar yields what Snapshot.Similar does, in the database as it is now.
func (db *DB) Similar(ctx context.Context, doc Doc, by Criterion) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Similar(ctx, doc, by) })
}

// CountSimilar returns how many documents Similar yields.
func (s *Snapshot) CountSimilar(ctx context.Context, doc Doc, by Criterion) (n int64, err error) {
	return search.CountSimilar(ctx, &s.v, doc.sample(), by.by)
}

// PlanSimilar returns how Similar would be carried out: a part for each table, then one for each
// memtable. It makes no signatures. Errors are as those of Similar.
func (s *Snapshot) PlanSimilar(ctx context.Context, doc Doc, by Criterion) ([]PartPlan, error) {
	parts, err := search.PlanSimilar(ctx, &s.v, doc.sample(), by.by)
	return partPlans(parts), err
}
