package query

import (
	"errors"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// put runs PUT {...} [UNLESS criterion [VERIFY]].
func (x *run) put(s *syntax.Put) error {
	doc, err := x.Values.Document(s.Doc)
	if err == nil {
		err = value.TakeText(x.DB.Options().Features, &doc)
	}
	if err != nil {
		return err
	}
	if s.Unless == nil {
		if x.tx != nil {
			err = x.tx.put(x, doc)
		} else {
			err = x.DB.Put(x.Ctx, doc)
		}
		if err != nil {
			return err
		}
		if x.DB.HasExpired(doc) {
			x.say("expired")
		} else {
			x.say("stored")
		}
		return nil
	}
	if x.tx != nil {
		return syntax.Errorf(s.Unless.Word.Pos.Offset, "it compares with what is stored at the time of the write", "UNLESS cannot be used in a transaction")
	}
	c, err := predicate.BindCriterion(x.Scope, s.Unless, s.Verify)
	if err != nil {
		return err
	}
	m, stored, err := x.DB.PutNovel(x.Ctx, doc, c)
	switch {
	case errors.Is(err, engine.ErrExpired):
		x.say("expired")
		return nil
	case err != nil:
		return err
	case stored:
		x.say("stored")
		return nil
	}
	x.answer(append([]string{"id"}, measureColumns(c)...), fixed(appendMeasure(Row{m.ID}, c, m)))
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
		if x.tx != nil {
			err = x.tx.delete(x, id)
		} else {
			err = x.DB.Delete(x.Ctx, id)
		}
		if err != nil {
			return x.LookupError(s.ID.Pos.Offset, id, err)
		}
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
	var found []version
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
		found = append(found, version{id, e.Seq})
	}
	deleted := 0
	if x.tx != nil {
		deleted, err = x.tx.deleteVersions(x, found)
	} else {
		var b engine.Batch
		for _, v := range found {
			b.DeleteVersion(v.id, v.seq)
		}
		err = x.DB.Apply(x.Ctx, &b)
		deleted = b.Deleted()
	}
	if err != nil {
		return err
	}
	x.say("deleted %s", quantity.Plain(deleted, "document", "documents"))
	return nil
}
