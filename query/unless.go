package query

import (
	"errors"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/rulejoin"
)

// putNovel stores a document unless another one matches it by a rule, as engine.Writer.PutNovel does
// by a criterion. The check and the write are one transaction, which is repeated if others have written
// meanwhile.
func (x *run) putNovel(doc engine.Doc, by *matching) (m engine.Match, stored bool, err error) {
	if x.DB.HasExpired(doc) {
		return m, false, engine.ErrExpired
	}
	if x.tx != nil {
		return x.putUnless(x.tx.Tx, doc, by)
	}
	for {
		tx, err := x.DB.Begin()
		if err != nil {
			return m, false, err
		}
		if m, stored, err = x.putUnless(tx, doc, by); err == nil && stored {
			err = x.DB.Commit(x.Ctx, tx)
		}
		tx.Close()
		if !errors.Is(err, engine.ErrConflict) {
			return m, stored, err
		}
	}
}

// putUnless is putNovel as a part of a transaction.
func (x *run) putUnless(tx *engine.Tx, doc engine.Doc, by *matching) (m engine.Match, stored bool, err error) {
	snap, err := tx.Snapshot()
	if err != nil {
		return m, false, err
	}
	defer snap.Close()
	old, err := snap.Get(x.Ctx, doc.ID)
	switch {
	case err == nil && equalDocs(&old, &doc):
		return by.match(x, doc.ID, 1), false, nil
	case err != nil && !errors.Is(err, engine.ErrNotFound):
		return m, false, err
	}
	o, err := x.ruleOptions()
	if err != nil {
		return m, false, err
	}
	if doc.Fingerprints == nil && doc.Text != "" {
		if fp, _ := x.DB.Hash(doc.Text); fp != nil {
			doc.Fingerprints = []engine.Fingerprint{fp}
		}
	}
	beside := []string{doc.ID}
	for p := range snap.Allowed() {
		if p.A == doc.ID {
			beside = append(beside, p.B)
		} else if p.B == doc.ID {
			beside = append(beside, p.A)
		}
	}
	s := rulejoin.Search{Rule: by.rule, Options: o, Index: x.DB.Options().Index, Join: x.ruleJoin()}
	best, err := s.Best(x.Ctx, snap, []engine.Doc{doc}, func(_ int, id string) bool { return slices.Contains(beside, id) })
	if err != nil {
		return m, false, err
	}
	if best[0].ID != "" {
		return by.match(x, best[0].ID, best[0].Score), false, nil
	}
	return m, true, tx.Put(x.Ctx, doc)
}

// equalDocs reports whether a stored document is equal to one that is submitted: they have the same
// text and fingerprints or, if the latter has neither, the same fields.
func equalDocs(stored, d *engine.Doc) bool {
	if d.Text == "" && d.Fingerprints == nil {
		return string(stored.Fields) == string(d.Fields)
	}
	if d.Fingerprints == nil || d.Text != "" {
		return stored.Text == d.Text
	}
	return slices.EqualFunc(stored.Fingerprints, d.Fingerprints, func(a, b engine.Fingerprint) bool { return slices.Equal(a, b) })
}
