package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// RepairOptions are engine.RecoverOptions of a repair.
type RepairOptions struct {
	Partial, Drop bool
	Progress      func(view.Progress)
	exact         bool // documents whose order of writing is lost count as lost
}

// Repaired says what Repair has done.
type Repaired struct {
	Tables    int   // damaged tables that were replaced
	Documents int64 // in the tables that replace them
	Losses    []table.Loss
}

// Repair verifies all tables, and replaces each damaged one by its documents with new indexes: this
// is a merge of one table. A damaged table of which a document cannot be read stays, unless the
// options allow dropping documents.
func (db *Store) Repair(ctx context.Context, o RepairOptions) (r Repaired, err error) {
	if err := db.Writable(); err != nil {
		return r, err
	}
	// A replay could restore what a dropped document had replaced, and compares sequence numbers.
	if err := db.Flush(ctx); errors.Is(err, base.ErrCorruption) && !o.Drop {
		o.exact = true
	} else if err != nil {
		return r, err
	}
	if err := db.awaitMerges(ctx); err != nil {
		return r, err
	}
	defer db.unlockMerges()
	v, err := db.View()
	if err != nil {
		return r, err
	}
	defer v.Close()
	err = v.Verify(ctx, "repair", o.Progress, func(p *view.Part, damage error) error {
		if damage == nil {
			return nil
		}
		if !db.SetApart(p, damage) {
			return damage
		}
		err := db.repair(ctx, p, o, &r)
		if errors.Is(err, base.ErrCorruption) || errors.Is(err, errTablesGone) { // in Losses, or replaced meanwhile
			return nil
		}
		return err
	})
	return r, err
}

// repair replaces one table.
func (db *Store) repair(ctx context.Context, p *view.Part, o RepairOptions, r *Repaired) error {
	m, err := db.merges.TakeTable(ctx, p.Meta.Number, p.Meta.Size)
	if err != nil {
		return closed(err)
	}
	var made *tables.Rebuilt
	err = db.merge(ctx, m, func(ctx context.Context, snap *view.View, in []*view.Part) (merged, error) {
		if len(in) == 0 { // it was dropped meanwhile
			return merged{}, nil
		}
		var losses []table.Loss
		made, losses, err = db.rebuild(ctx, p.Meta, func(doc uint32) bool { return in[0].Dead.DeadAt(doc, snap.Seq) }, o)
		if r.Losses = append(r.Losses, losses...); err != nil {
			return merged{}, err
		}
		for _, t := range made.Tables {
			t.Uncounted.Store(p.Uncounted.Load())
		}
		return merged{made.Tables, made.New}, nil
	})
	if err != nil || made == nil {
		return err
	}
	r.Tables++
	for _, t := range made.Tables {
		r.Documents += int64(t.Meta.Docs)
	}
	return nil
}

// rebuild writes the documents of a damaged table that are not dead to new tables. If some cannot
// be read, and must not be dropped, the error is the damage.
func (db *Store) rebuild(ctx context.Context, meta catalog.Table, dead func(doc uint32) bool, o RepairOptions) (*tables.Rebuilt, []table.Loss, error) {
	from, err := db.Tables.Salvage(meta)
	if err != nil {
		return nil, []table.Loss{{Err: err, Lost: int64(meta.Docs)}}, err
	}
	defer from.Close()
	info, _ := from.Info()
	made, err := db.Tables.Rebuild(ctx, from, meta.MinSeq-info.MinSeq, table.SalvageOptions{Partial: o.Partial, Order: !o.exact, Dead: dead})
	if err != nil {
		return nil, nil, err
	}
	losses := from.Losses()
	if i := slices.IndexFunc(losses, func(l table.Loss) bool { return l.Lost > 0 }); i >= 0 && !o.Drop {
		return nil, losses, cmp.Or(made.Drop(true), losses[i].Err)
	}
	return made, losses, nil
}

// isReadable reports whether the file of a damaged table that the catalog lists has documents.
func (db *Store) isReadable(meta catalog.Table) bool {
	from, err := db.Tables.Salvage(meta)
	return err == nil && from.Close() == nil
}

// replaceUnopened replaces tables whose directories are damaged, so that they cannot be opened. If
// documents would be lost, the error is the damage.
func (db *Store) replaceUnopened(s *catalog.State, damaged map[uint64]error) error {
	for _, meta := range s.Tables {
		damage := damaged[meta.Number]
		if damage == nil {
			continue
		}
		dead := cmp.Or(s.Tombstones[meta.Number], roaring.New())
		made, _, err := db.rebuild(context.Background(), meta, dead.Contains, RepairOptions{exact: true})
		if errors.Is(err, base.ErrCorruption) {
			return damage
		} else if err != nil {
			return errors.Join(damage, err)
		}
		parts, edit := slices.Clone(db.current.Parts), catalog.Edit{DropTables: []uint64{meta.Number}, LastSeq: meta.MaxSeq}
		for _, t := range made.Tables {
			edit.AddTables = append(edit.AddTables, t.Meta)
			parts = append(parts, view.Part{Table: t, Dead: view.NewTombstones(nil)})
		}
		if err := db.editCatalog(edit); err != nil {
			return errors.Join(err, made.Drop(false))
		}
		db.mu.Lock()
		old := db.install(parts)
		db.mu.Unlock()
		db.unref(old)
		db.log.Warn("a damaged table was rebuilt", "path", db.Path, "err", damage)
		db.event(Event{Kind: EventCompact, Tables: edit.DropTables, Reason: merges.ReasonRepair, Docs: int(meta.Docs), InputBytes: meta.Size})
		if err := db.Dir.RemoveTable(meta.Number); err != nil { // otherwise the next Open removes it
			db.log.Warn("removing a table that is no longer needed", "path", db.Path, "err", err)
		}
	}
	return nil
}
