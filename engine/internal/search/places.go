package search

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/simdb/simdb/engine/internal/errs"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// EachPlace calls fn for each visible document of v that ids name, with its index in ids, in the
// order in which they are stored: table by table, by number, memtables last. IDs that are not there
// are left out. The document has no sketch; its slices are valid while fn runs, and must not be
// changed. fn runs outside View.Safely: its errors and panics are its own.
func EachPlace(ctx context.Context, v *view.View, ids []string, fn func(i int, d *sstable.Document) error) error {
	type numbered struct {
		view.Place
		table, i int
	}
	places := make([]numbered, 0, len(ids))
	err := v.Safely(ctx, func() error {
		for i, id := range ids {
			p, err := v.Locate(id)
			if errors.Is(err, errs.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			table := len(v.Version.Parts)
			if p.Part != nil {
				table = slices.IndexFunc(v.Version.Parts, func(q view.Part) bool { return q.Table == p.Part.Table })
			}
			places = append(places, numbered{p, table, i})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(places, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.i, b.i))
	})
	var d sstable.Document
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return err
		}
		of := &d
		if p.Mem != nil {
			of = &p.Mem.Document
		} else if err := v.Safely(ctx, func() error { return p.WithoutSketch(&d) }); err != nil {
			return err
		}
		if err := fn(p.i, of); err != nil {
			return err
		}
	}
	return nil
}
