package search

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// A Where decides on a document by its text and fields, which are valid while it runs.
type Where func(text, fields []byte) (bool, error)

// mem decides on a document of a memtable; a nil Where takes all.
func (w Where) mem(d *view.MemDoc) (bool, error) {
	if w == nil {
		return true, nil
	}
	return w(d.Text, d.Fields)
}

// eachWhere calls fn for the visible documents of a table that f, with its Where, selects: in the
// order in which their texts lie, so that a block of texts is decoded once. It reads the texts of
// no others than f selects without Where.
func eachWhere(ctx context.Context, v *view.View, p *view.Part, f Filter, fn func(doc uint32, id []byte) error) error {
	texts := p.Texts()
	give := func(doc uint32) error {
		if ok, err := whereOf(texts, doc, f.Where); err != nil || !ok {
			return err
		}
		id, err := p.ID(doc)
		if err == nil {
			err = fn(doc, id)
		}
		return err
	}
	if !f.byID() && f.Since <= p.Meta.MinTime {
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
	err := eachDocOf(ctx, v, p, f, func(doc uint32) error {
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

// eachDocOf calls fn for the visible documents of a table that f without its Where selects.
func eachDocOf(ctx context.Context, v *view.View, p *view.Part, f Filter, fn func(doc uint32) error) error {
	if f.byID() {
		f.Where = nil
		return eachOf(ctx, v, p, f, func(_ []byte, at view.Place) error { return fn(at.Doc) })
	}
	return p.EachWritten(ctx, view.Stored(f.Since), func(docs []uint32) error {
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

// whereOf decides on a document of a table.
func whereOf(texts *sstable.Texts, doc uint32, w Where) (bool, error) {
	text, fields, err := texts.Get(doc)
	if err != nil {
		return false, err
	}
	return w(text, fields)
}

// A listing in order reads some texts of a table one by one, where the ids come, before it reads
// those of all: fewTries, and of each triesShare documents another. One by one each decodes a block
// of records; in the order in which they lie each block is decoded once. So the first of what is
// not rare are found without a scan of the table, and others take an eighth of a scan more, or as
// much as one where documents are very short.
const (
	fewTries   = 16
	triesShare = 512
)

// holds decides on the head by its text and fields. It reads those of the head alone while there
// are tries left, then those of the whole table, once.
func (s *stream) holds(ctx context.Context) (ok bool, err error) {
	if s.Where == nil {
		return true, nil
	}
	if s.part != nil && s.chosen == nil && s.tries == 0 {
		if s.chosen, err = chosenOf(ctx, s.v, s.part, s.Filter); err != nil {
			return false, err
		}
	}
	if s.chosen != nil {
		return s.chosen.Contains(s.head.Doc), nil
	}
	s.tries--
	err = s.v.Safely(ctx, func() (err error) {
		var d sstable.Document
		if err = s.head.WithoutSketch(&d); err == nil {
			ok, err = s.Where(d.Text, d.Fields)
		}
		return err
	})
	return ok, err
}

// chosenOf returns the documents of a table that f, with its Where, selects: at most a bit each.
func chosenOf(ctx context.Context, v *view.View, p *view.Part, f Filter) (chosen *roaring.Bitmap, err error) {
	chosen = roaring.New()
	err = v.Safely(ctx, func() error {
		return eachWhere(ctx, v, p, f, func(doc uint32, _ []byte) error { chosen.Add(doc); return nil })
	})
	return chosen, err
}
