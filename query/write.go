package query

import (
	"encoding/json"
	"errors"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/engine"
)

// put runs PUT {...} [UNLESS criterion [VERIFY]].
func (x *run) put(s *putStmt) error {
	doc, err := x.document(s.Doc)
	if err != nil {
		return err
	}
	if s.Unless == nil {
		if err := x.db.Put(x.ctx, doc); err != nil {
			return err
		}
		x.say("stored")
		return nil
	}
	c, err := x.criterion(s.Unless, s.Verify)
	if err != nil {
		return err
	}
	m, stored, err := x.db.PutNovel(x.ctx, doc, c)
	if err != nil {
		return err
	}
	if stored {
		x.say("stored")
		return nil
	}
	if _, ok := c.Distance(); ok {
		x.answer([]string{"id", "distance"}, fixed(Row{m.ID, m.Distance}))
	} else {
		x.answer([]string{"id", "score", "error", "exact"}, fixed(Row{m.ID, m.Score, m.Error, m.Exact}))
	}
	return nil
}

// document returns the document that PUT stores: JSON, or a parameter with an engine.Doc or JSON.
func (x *run) document(t lexer.Token) (engine.Doc, error) {
	v, err := x.values.get(t)
	if err != nil {
		return engine.Doc{}, err
	}
	switch v := v.(type) {
	case engine.Doc:
		return v, nil
	case string:
		return x.decode(t, []byte(v))
	case json.RawMessage:
		return x.decode(t, v)
	}
	return engine.Doc{}, x.values.wrong(t, "a document")
}

// decode reads a document from JSON; an error in literal JSON gets its place in the statement.
func (x *run) decode(t lexer.Token, raw []byte) (engine.Doc, error) {
	doc, at, err := decodeDoc(raw)
	if err == nil {
		return doc, nil
	}
	offset := t.Pos.Offset
	if t.Type == tokJSON {
		offset += min(at, len(t.Value)-1)
	}
	return engine.Doc{}, errorAt(x.p.text, offset, "", "%v", err)
}

// delete runs DELETE 'a' and DELETE WHERE ...: all that the selection finds goes, or, on an error, nothing. What is
// written while it searches stays: a document is deleted only if it is the one that the selection was decided on.
func (x *run) delete(s *deleteStmt) error {
	if s.ID != nil {
		id, err := x.values.str(*s.ID, expectID)
		if err != nil {
			return err
		}
		if err := x.db.Delete(x.ctx, id); err != nil {
			return x.lookupError(s.ID.Pos.Offset, id, err)
		}
		x.say("deleted")
		return nil
	}
	sel, err := x.bindSelect(s.Where)
	if err != nil {
		return err
	}
	var b engine.Batch
	for r, err := range x.results(sel, x.planFor(sel)) {
		if err != nil {
			return err
		}
		e, err := x.snap.Lookup(x.ctx, r.id)
		if err != nil {
			return err
		}
		b.DeleteVersion(r.id, e.Seq)
	}
	if err := x.db.Apply(x.ctx, &b); err != nil {
		return err
	}
	x.say("deleted %s", plural(b.Deleted(), "document", "documents"))
	return nil
}

// prune runs PRUNE OLDER 30d.
func (x *run) prune(s *pruneStmt) error {
	t, err := x.values.moment(s.Older, x.now)
	if err != nil {
		return err
	}
	n, err := x.db.Prune(x.ctx, t)
	if err != nil {
		return err
	}
	x.say("pruned %s", plural(n, "document", "documents"))
	return nil
}

// compact runs COMPACT.
func (x *run) compact() error {
	if err := x.db.Compact(x.ctx, x.progress()); err != nil {
		return err
	}
	x.say("compacted")
	return nil
}

// flush runs FLUSH.
func (x *run) flush() error {
	if err := x.db.Flush(x.ctx); err != nil {
		return err
	}
	x.say("flushed")
	return nil
}

// allow runs ALLOW 'a' 'b'.
func (x *run) allow(s *twoStmt) error {
	pair, err := x.idPair(s)
	if err == nil {
		err = x.db.Allow(x.ctx, pair)
	}
	if err != nil {
		return err
	}
	x.say("allowed")
	return nil
}

// unallow runs UNALLOW 'a' 'b'.
func (x *run) unallow(s *twoStmt) error {
	pair, err := x.idPair(s)
	if err == nil {
		err = x.db.Unallow(x.ctx, pair)
	}
	if errors.Is(err, engine.ErrNotFound) {
		e := errorAt(x.p.text, s.A.Pos.Offset, "ALLOWED lists the pairs that are", "%s and %s are not an allowed pair",
			label(pair.A), label(pair.B))
		e.Class, e.Err = ClassNotFound, engine.ErrNotFound
		return e
	}
	if err != nil {
		return err
	}
	x.say("unallowed")
	return nil
}

// idPair returns the two ids of a statement.
func (x *run) idPair(s *twoStmt) (p engine.IDPair, err error) {
	if p.A, err = x.values.str(s.A, expectID); err != nil {
		return p, err
	}
	if p.B, err = x.values.str(s.B, expectID); err == nil && p.A == p.B {
		e := errorAt(x.p.text, s.B.Pos.Offset, "", "%s twice: a pair is two documents", label(p.A))
		e.Class = ClassParameter
		err = e
	}
	return p, err
}

// allowed runs ALLOWED.
func (x *run) allowed() {
	x.answer([]string{"a", "b"}, func(yield func(Row, error) bool) {
		for p := range x.snap.Allowed() {
			if !yield(Row{p.A, p.B}, nil) {
				return
			}
		}
	})
}
