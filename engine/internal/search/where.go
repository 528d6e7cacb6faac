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
// order in which their texts lie, so that a block of texts is decoded once.
func eachWhere(ctx context.Context, v *view.View, p *view.Part, f Filter, fn func(doc uint32, id []byte) error) error {
	if p.Meta.MaxTime < f.Since {
		return nil
	}
	texts := p.Texts()
	return p.EachInTextOrder(ctx, func(doc uint32) error {
		if alive, err := p.AliveAt(doc, v.Seq, f.Since); err != nil || !alive {
			return err
		}
		if ok, err := whereOf(texts, doc, f.Where); err != nil || !ok {
			return err
		}
		id, err := p.ID(doc)
		if err == nil && hasPrefix(id, f.Prefix) {
			err = fn(doc, id)
		}
		return err
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

// chosenOf returns the documents of a table that f, with its Where, selects: at most a bit each. It
// returns nil if f has no Where.
func chosenOf(ctx context.Context, v *view.View, p *view.Part, f Filter) (chosen *roaring.Bitmap, err error) {
	if f.Where == nil {
		return nil, nil
	}
	chosen = roaring.New()
	err = v.Safely(ctx, func() error {
		return eachWhere(ctx, v, p, f, func(doc uint32, _ []byte) error { chosen.Add(doc); return nil })
	})
	return chosen, err
}
