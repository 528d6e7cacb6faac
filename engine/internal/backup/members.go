package backup

import (
	"context"
	"math"
	"path/filepath"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
)

// Members returns the documents of a view as tables, oldest first, with all other documents marked
// as tombstones, and the least sequence number in them. Documents in memtables form one table in
// memory.
func Members(ctx context.Context, v *view.View) (parts []view.Part, least uint64, err error) {
	least = math.MaxUint64
	for _, in := range slices.Backward(v.Version.Parts) {
		dead, err := hidden(ctx, v, &in)
		if err != nil {
			return nil, 0, err
		}
		in.Name = filepath.Join(v.Path, in.Name)
		if v.Dir == nil {
			in.Name = v.Path
		}
		parts, least = append(parts, view.Part{Table: in.Table, Dead: view.NewTombstones(dead)}), min(least, in.Meta.MinSeq)
	}
	mem, err := memTable(v)
	if err != nil || mem == nil {
		return parts, least, err
	}
	t := &view.Table{Meta: tables.Meta(0, mem.Info()), Name: "memtable of " + v.Path, Reader: mem}
	return append(parts, view.Part{Table: t, Dead: view.NewTombstones(nil)}), min(least, t.Meta.MinSeq), nil
}

// hidden returns the documents of a table that are not visible in a view.
func hidden(ctx context.Context, v *view.View, in *view.Part) (*roaring.Bitmap, error) {
	dead := in.Dead.UpTo(v.Seq)
	if in.AllLive(v.Life) && !v.Several {
		return dead, nil
	}
	dead = dead.Clone()
	return dead, v.Safely(ctx, func() error {
		for doc := range in.Meta.Docs {
			shown, err := v.Alive(in, doc)
			if err != nil {
				return err
			}
			if !shown {
				dead.Add(doc)
			}
		}
		return nil
	})
}
