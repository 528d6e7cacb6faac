package view

import (
	"context"
	"errors"
	"slices"

	"github.com/simdb/simdb/engine/internal/files"
)

// A PlaceFunc receives the place of the document with the ID ids[i], with its text and fields,
// which are valid during the call and must not be changed.
type PlaceFunc func(i int, p Place, text, fields []byte) error

// EachPlace calls fn for each visible document with an ID in ids, in the storage order of texts:
// table by table, memtables last. It skips IDs without a document. fn runs outside View.Safely:
// EachPlace does not handle its panics.
func (v *View) EachPlace(ctx context.Context, ids []string, fn PlaceFunc) error {
	tables := make([][]numbered, len(v.Version.Parts))
	var mems []numbered
	err := v.Safely(ctx, func() error {
		for i, id := range ids {
			p, err := v.Locate(id)
			if errors.Is(err, files.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if p.Mem != nil {
				mems = append(mems, numbered{p, i})
				continue
			}
			table := slices.IndexFunc(v.Version.Parts, func(q Part) bool { return q.Table == p.Part.Table })
			tables[table] = append(tables[table], numbered{p, i})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range tables {
		if err := v.eachOfTable(ctx, &v.Version.Parts[i], tables[i], fn); err != nil {
			return err
		}
	}
	for _, p := range mems {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(p.i, p.Place, p.Mem.Text, p.Mem.Fields); err != nil {
			return err
		}
	}
	return nil
}

// numbered is a place with the index of its ID.
type numbered struct {
	Place
	i int
}

func (v *View) eachOfTable(ctx context.Context, part *Part, places []numbered, fn PlaceFunc) error {
	docs := make([]uint32, len(places))
	for i, p := range places {
		docs[i] = p.Doc
	}
	var order []int
	err := v.Safely(ctx, func() (err error) { order, err = part.TextOrder(docs); return err })
	if err != nil {
		return err
	}
	texts := part.TextsInOrder(false)
	for _, at := range order {
		var text, fields []byte
		if err := v.Safely(ctx, func() (err error) { text, fields, err = texts.Get(docs[at]); return err }); err != nil {
			return err
		}
		if err := fn(places[at].i, places[at].Place, text, fields); err != nil {
			return err
		}
	}
	return nil
}
