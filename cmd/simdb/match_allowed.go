package main

import (
	"context"
	"iter"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
)

// idsInPairs returns the ids that are in allowed pairs.
func idsInPairs(db *engine.DB) map[string]bool {
	ids := map[string]bool{}
	for p := range db.Allowed() {
		ids[p.A], ids[p.B] = true, true
	}
	return ids
}

// knownBeside says whether a document in the database is like a record, other than those that ALLOW has noted beside its id.
func (t *matching) knownBeside(ctx context.Context, rec *input.Record) (bool, error) {
	s, err := t.db.Snapshot()
	if err != nil {
		return false, err
	}
	defer s.Close()
	for m, err := range t.like(ctx, s, rec) {
		if err != nil || !s.IsAllowed(rec.Doc.ID, m.ID) {
			return err == nil, err
		}
	}
	return false, nil
}

// like yields the documents that are like a record.
func (t *matching) like(ctx context.Context, s *engine.Snapshot, rec *input.Record) iter.Seq2[engine.Match, error] {
	by := t.c.criterion(!t.c.NoVerify)
	text := engine.Doc{Text: rec.Doc.Text}
	share, isShare := by.Threshold()
	switch {
	case isShare && text.Text == "":
	case isShare && by.IsVerified():
		return s.JaccardVerified(ctx, text, share)
	case isShare:
		return s.Jaccard(ctx, text, share)
	default:
		if fp, ok := t.fingerprint(rec); ok {
			k, _ := by.Distance()
			return s.Near(ctx, fp, k)
		}
	}
	return func(func(engine.Match, error) bool) {}
}
