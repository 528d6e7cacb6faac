package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/search"
)

// Similar yields every visible document that is similar to doc by the criterion, any of Near,
// Jaccard, Levenshtein and Cosine: the most similar first, then by ID. What is looked for is
// doc.Text, or by Near doc.Fingerprint if it is given, or, if that is empty, the stored document
// doc.ID, which must be there (ErrNotFound). The document that is stored as doc.ID is no match. By
// Near and Jaccard it is as the methods Near, Jaccard and JaccardVerified.
//
// By Levenshtein and Cosine it is complete, and scores are exact. It compares signatures of the
// texts, 48 bytes each, and then the texts that these do not rule out. Of short texts, of up to 200
// runes or so, they rule out nearly all; of long ones by Levenshtein those of other lengths, by
// Cosine few. The first search makes the signatures of a table, for which it reads all its texts;
// they take up to half of Options.Memory in addition, until the table is merged or the database
// closed. Tables for which that is not enough are read each time.
//
// Errors are ErrInvalid for the bound of the criterion, ErrParams if the database keeps no texts,
// ErrNoSketches, ErrNotFound, ErrTooLarge for more documents than fit into Options.Memory,
// ErrClosed, *CorruptionError, and that of the context; an error is the last thing that is yielded.
func (s *Snapshot) Similar(ctx context.Context, doc Doc, by Criterion) iter.Seq2[Match, error] {
	switch {
	case by.by.Jaccard:
		return s.jaccardBy(ctx, doc, by)
	case by.by.Near():
		return s.similarNear(ctx, doc, by)
	}
	return s.yieldJaccard(ctx, func(q *search.Jaccard) error { return q.FindSimilar(ctx, &s.v, doc.sample(), by.by) })
}

// similarNear is Similar by Near.
func (s *Snapshot) similarNear(ctx context.Context, doc Doc, by Criterion) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		fp, has, err := s.print(ctx, doc, by)
		if err != nil {
			yield(Match{}, err)
			return
		}
		if !has {
			return // no words
		}
		for m, err := range s.Near(ctx, fp, by.by.K) {
			if (err != nil || m.ID != doc.ID) && !yield(m, err) {
				return
			}
		}
	}
}

// print returns the fingerprint that Similar by Near looks for; a text without words has none.
func (s *Snapshot) print(ctx context.Context, doc Doc, by Criterion) (fp Fingerprint, has bool, err error) {
	if err := s.v.CheckCriterion(by.by); err != nil {
		return 0, false, err
	}
	if doc.ID == "" && doc.Text == "" && doc.Fingerprint == nil {
		_, err := s.v.Locate(doc.ID)
		return 0, false, err
	}
	d, err := s.toMatch(ctx, &doc, by)
	return d.Fingerprint, d.HasFingerprint, err
}

// Similar yields what Snapshot.Similar does, in the database as it is now.
func (db *DB) Similar(ctx context.Context, doc Doc, by Criterion) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Similar(ctx, doc, by) })
}

// CountSimilar returns how many documents Similar yields.
func (s *Snapshot) CountSimilar(ctx context.Context, doc Doc, by Criterion) (n int64, err error) {
	switch {
	case by.by.Jaccard:
		return s.CountJaccard(ctx, doc, by)
	case by.by.Near():
		fp, has, err := s.print(ctx, doc, by)
		if err != nil || !has {
			return 0, err
		}
		for m, err := range s.NearUnordered(ctx, fp, by.by.K) {
			if err != nil {
				return 0, err
			}
			if m.ID != doc.ID {
				n++
			}
		}
		return n, nil
	}
	return search.CountSimilar(ctx, &s.v, doc.sample(), by.by)
}

// PlanSimilar returns how Similar would be carried out: a part for each table, then one for each
// memtable. It makes no signatures. Errors are as those of Similar.
func (s *Snapshot) PlanSimilar(ctx context.Context, doc Doc, by Criterion) ([]PartPlan, error) {
	switch {
	case by.by.Jaccard:
		return s.PlanJaccard(ctx, doc, by)
	case by.by.Near():
		fp, has, err := s.print(ctx, doc, by)
		if err != nil || !has {
			return nil, err
		}
		plan, err := s.PlanNear(ctx, fp, by.by.K)
		return plan.Parts, err
	}
	parts, err := search.PlanSimilar(ctx, &s.v, doc.sample(), by.by)
	return partPlans(parts), err
}
