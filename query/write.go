package query

import (
	"errors"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// put runs PUT {...} [UNLESS criterion [ESTIMATE]].
func (x *run) put(s *syntax.Put) error {
	doc, err := x.Values.Document(s.Doc)
	if err == nil {
		err = value.TakeText(x.DB.Options().Features, &doc)
	}
	if err != nil {
		return err
	}
	if s.Unless == nil {
		if err := x.to.Put(x.Ctx, doc); err != nil {
			return err
		}
		if x.DB.HasExpired(doc) {
			x.say("expired")
		} else {
			x.wrote(1, 0)
			x.say("stored")
		}
		return nil
	}
	by, err := x.bindMatching(s.Unless, s.Estimate)
	if err != nil {
		return err
	}
	put := func() (engine.Match, bool, error) { return x.to.PutNovel(x.Ctx, doc, by.by) }
	if by.rule != nil {
		put = func() (engine.Match, bool, error) { return x.putNovel(doc, &by) }
	}
	m, stored, err := put()
	switch {
	case errors.Is(err, engine.ErrExpired):
		x.say("expired")
		return nil
	case err != nil:
		return err
	case stored:
		x.wrote(1, 0)
		x.say("stored")
		return nil
	}
	x.answer(append([]string{"id"}, measureColumns(by.measure())...), fixed(appendMeasure(Row{m.ID}, by.measure(), m)))
	return nil
}

// delete runs DELETE 'a' and DELETE WHERE ... The latter deletes all documents that the selection
// finds or, on an error, none. It deletes only the versions that it found: a document that is
// replaced during the search stays.
func (x *run) delete(s *syntax.Delete) error {
	if s.ID != nil {
		id, err := x.Values.String(*s.ID, syntax.ExpectID)
		if err != nil {
			return err
		}
		if err := x.to.Delete(x.Ctx, id); err != nil {
			return x.LookupError(s.ID.Pos.Offset, id, err)
		}
		x.wrote(0, 1)
		x.say("deleted")
		return nil
	}
	if s.Where.Expr == nil {
		return syntax.Errorf(s.Word.Pos.Offset, "DELETE WHERE ID LIKE '%' deletes all", "DELETE WHERE needs a predicate")
	}
	sel, err := x.bindRowless("DELETE", s.Where)
	if err != nil {
		return err
	}
	sel.passages = false // a document may have several passages, but is deleted once
	var b engine.Batch
	x.planFor(sel)
	for row, err := range x.rowsOf(sel) {
		if err != nil {
			return err
		}
		id := row[0].(string)
		e, err := x.Snap.Lookup(x.Ctx, id)
		if err != nil {
			return err
		}
		b.DeleteVersion(id, e.Seq)
	}
	if err := x.to.Apply(x.Ctx, &b); err != nil {
		return err
	}
	x.wrote(0, b.Deleted())
	x.say("deleted %s", quantity.Plain(b.Deleted(), "document", "documents"))
	return nil
}
