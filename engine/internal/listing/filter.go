// Package listing lists the documents of a View that a Filter selects, in any order (Each), by ID
// (EachInOrder) or in the order of writing (EachWritten). It uses the ID order, the times or the
// indexed fields of tables, and reads texts and fields where a Filter needs them.
package listing

import (
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// A Filter selects documents.
type Filter struct {
	From, To  string // IDs >= From and < To; "" for no bound
	Reverse   bool   // in order: the greatest ID first
	view.Life        // stored at Since or later; functions set the rest, which is the view's
	Before    int64  // by Each, without other conditions: stored before this time; 0 for any
	After     uint64 // by EachWritten: with a greater sequence number
	Limit     int    // maximum number of documents that the caller reads; 0 for all
	// Match decides about an ID that is within the bounds; nil accepts any. It is called before
	// Where.
	Match func(id []byte) (bool, error)
	Where Where // condition on text and fields; nil accepts any
	// Fields are conditions that each document which satisfies Where also satisfies: a value in at
	// least one range of each element. If Decide is set, they imply Where.
	Fields [][]table.FieldRange
	Decide bool
}

func (f *Filter) within(id []byte) bool {
	return (f.From == "" || string(id) >= f.From) && (f.To == "" || string(id) < f.To)
}

func (f *Filter) matches(id []byte) (bool, error) {
	if _, code := view.Owner(id); code {
		return false, nil
	}
	if ok := f.within(id); !ok || f.Match == nil {
		return ok, nil
	}
	return f.Match(id)
}

func (f *Filter) byID() bool { return f.bounded() || f.Match != nil }

func (f *Filter) bounded() bool { return f.From != "" || f.To != "" }

// A Where decides about a document by its text and fields, which are valid during the call.
type Where func(text, fields []byte) (bool, error)

// eachOf is Each for one table; f.Life must be within the view's.
func eachOf(ctx context.Context, v *view.View, p *view.Part, f Filter, fn func(id []byte, p view.Place) error) error {
	found, decided, err := f.found(v, p, false)
	if err != nil {
		return err
	}
	if f.Where != nil && !decided {
		return eachWhere(ctx, v, p, f, found, func(doc uint32, id []byte) error { return fn(id, view.Place{Part: p, Doc: doc}) })
	}
	give := func(doc uint32, id []byte) error {
		if ok, err := f.matches(id); err != nil || !ok {
			return err
		}
		ok, err := p.AliveAt(doc, v.Seq, f.Life)
		if err == nil && ok {
			err = fn(id, view.Place{Part: p, Doc: doc})
		}
		return err
	}
	if decided {
		return p.EachIDOf(ctx, found, give)
	}
	if f.bounded() {
		order, err := p.IDOrder()
		if err != nil {
			return err
		}
		from, end, err := order.Range([]byte(f.From), []byte(f.To))
		if err != nil {
			return err
		}
		return order.EachID(ctx, from, end, give)
	}
	written := f.Written()
	if f.Before != 0 {
		written.To = f.Before - 1
	}
	return p.EachWrittenID(ctx, written, func(doc uint32, id []byte) error {
		if p.Dead.DeadAt(doc, v.Seq) {
			return nil
		}
		if ok, err := f.matches(id); err != nil || !ok {
			return err
		}
		return fn(id, view.Place{Part: p, Doc: doc})
	})
}

// eachWhere calls fn for the visible documents of a table that f, including its Where, selects. It
// reads texts in storage order, so that a block of texts is decoded once, and only those of
// documents that f selects without Where; if found is not nil, only of those in found.
func eachWhere(ctx context.Context, v *view.View, p *view.Part, f Filter, found []uint32, fn func(doc uint32, id []byte) error) error {
	texts := p.Texts()
	give := func(doc uint32) error {
		text, fields, err := texts.Get(doc)
		if err != nil {
			return err
		}
		if ok, err := f.Where(text, fields); err != nil || !ok {
			return err
		}
		id, err := p.ID(doc)
		if err != nil {
			return err
		}
		if _, code := view.Owner(id); code {
			return nil
		}
		return fn(doc, id)
	}
	if found == nil && !f.byID() && p.AllLive(f.Life) {
		return p.EachInTextOrder(ctx, func(doc uint32) error {
			if p.Dead.DeadAt(doc, v.Seq) {
				return nil
			}
			return give(doc)
		})
	}
	var docs []uint32
	flush := func() error {
		if err := p.SortInTextOrder(docs); err != nil {
			return err
		}
		for i, doc := range docs {
			if i%rowsPerLook == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := give(doc); err != nil {
				return err
			}
		}
		docs = docs[:0]
		return nil
	}
	err := eachDocOf(ctx, v, p, f, found, func(doc uint32) error {
		if docs = append(docs, doc); len(docs) < whereDocs {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// whereDocs is how many documents eachWhere sorts at a time, at 12 bytes each.
const whereDocs = 1 << 20

// eachDocOf calls fn for the visible documents of a table that f selects without its Where; if
// found is not nil, only for those in found.
func eachDocOf(ctx context.Context, v *view.View, p *view.Part, f Filter, found []uint32, fn func(doc uint32) error) error {
	for _, doc := range found {
		ok, err := f.selects(v, p, doc)
		if err == nil && ok {
			err = fn(doc)
		}
		if err != nil {
			return err
		}
	}
	if found != nil {
		return nil
	}
	if f.byID() {
		f.Where, f.Fields = nil, nil
		return eachOf(ctx, v, p, f, func(_ []byte, at view.Place) error { return fn(at.Doc) })
	}
	return p.EachWritten(ctx, f.Written(), func(docs []uint32) error {
		for _, doc := range docs {
			if p.Dead.DeadAt(doc, v.Seq) {
				continue
			}
			if err := fn(doc); err != nil {
				return err
			}
		}
		return nil
	})
}

// selects reports whether a document of a table is visible, and selected by its ID and time.
func (f *Filter) selects(v *view.View, p *view.Part, doc uint32) (ok bool, err error) {
	if f.byID() {
		id, err := p.ID(doc)
		if err != nil {
			return false, err
		}
		if ok, err := f.matches(id); err != nil || !ok {
			return false, err
		}
	}
	return p.AliveAt(doc, v.Seq, f.Life)
}

// rowsPerLook is how many documents are processed between two checks of the context.
const rowsPerLook = 256
