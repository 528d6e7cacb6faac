package view

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/sstable"
)

// EachPlace calls fn for each visible document that ids name, with its index in ids, in the
// order in which their texts are stored: table by table, memtables last. IDs that are not there are
// left out. The document has no sketch; its slices are valid while fn runs, and must not be
// changed. fn runs outside View.Safely: its errors and panics are its own.
func (v *View) EachPlace(ctx context.Context, ids []string, fn func(i int, d *sstable.Document) error) error {
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
		if err := v.eachOfTable(ctx, &v.Version.Parts[i], ids, tables[i], fn); err != nil {
			return err
		}
	}
	for _, p := range mems {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(p.i, &p.Mem.Document); err != nil {
			return err
		}
	}
	return nil
}

// A numbered is a place with the index of its ID.
type numbered struct {
	Place
	i int
}

// eachOfTable is EachPlace for places in a table.
func (v *View) eachOfTable(ctx context.Context, part *Part, ids []string, places []numbered, fn func(i int, d *sstable.Document) error) error {
	byDoc := func(a, b numbered) int { return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.i, b.i)) }
	slices.SortFunc(places, byDoc)
	var docs []uint32
	for _, p := range places {
		docs = append(docs, p.Doc)
	}
	docs = slices.Compact(docs)
	if err := v.Safely(ctx, func() error { return part.SortInTextOrder(docs) }); err != nil {
		return err
	}
	texts := part.TextsInOrder()
	for _, doc := range docs {
		at, _ := slices.BinarySearchFunc(places, doc, func(p numbered, doc uint32) int { return cmp.Compare(p.Doc, doc) })
		var d sstable.Document
		err := v.Safely(ctx, func() (err error) {
			e, err := places[at].EntryOf(ids[places[at].i])
			if err == nil {
				d = sstable.Document{
					ID: []byte(e.ID), Fingerprint: e.Fingerprint, Rest: e.Rest, HasFingerprint: e.HasFingerprint, Time: e.Time.UnixMicro(), Seq: e.Seq,
				}
				d.Text, d.Fields, err = texts.Get(doc)
			}
			return err
		})
		if err != nil {
			return err
		}
		for ; at < len(places) && places[at].Doc == doc; at++ {
			if err := fn(places[at].i, &d); err != nil {
				return err
			}
		}
	}
	return nil
}
