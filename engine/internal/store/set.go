package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// OpenSet opens several tables and databases as one read-only database: the one that Ingest would
// make of them in this order. Nothing is written: which documents are replaced is found out anew,
// by the same steps, and held in memory. A database is taken as it is at this moment.
func OpenSet(paths []string, o Options) (*Store, error) {
	o.ReadOnly, o.MustExist = true, true
	switch len(paths) {
	case 0:
		return nil, fmt.Errorf("a set of no tables: %w", files.ErrInvalid)
	case 1:
		return Open(paths[0], o)
	}
	o = o.withDefaults()
	db := newDB(fmt.Sprintf("%s and %d more", paths[0], len(paths)-1), o)
	db.mu.Lock()
	db.install(nil)
	db.mu.Unlock()
	for i, path := range paths {
		from, err := Open(path, Options{ReadOnly: true, MustExist: true, Memory: o.Memory, Logger: o.Logger, FS: o.FS, Now: o.Now})
		if err == nil && i == 0 {
			db.SetParams(from.setParams())
			err = o.check(path, db.Params, 0)
		}
		if err == nil {
			if !from.Params.Compatible(db.Params) {
				p := from.Params
				p.Layout = db.Params.Layout
				err = fmt.Errorf("%s can't be searched together with %s: it was made with %s: %w", path, paths[0], p.Diff(db.Params), files.ErrParams)
			} else {
				err = db.include(context.Background(), from)
			}
		}
		if from != nil { // the set has its tables open
			err = errors.Join(err, from.Close())
		}
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// setParams returns the parameters of a set whose first member the store is. A table that has the
// layout for its size does not say which one larger tables are to have.
func (db *Store) setParams() sstable.Params {
	p := db.Params
	if db.Dir == nil && p.Layout == sstable.ChooseLayout(int64(db.current.Parts[0].Meta.Fingerprints)) {
		p.Layout = sstable.LayoutBySize
	}
	return p
}

// include adds what another store, which nobody else uses, shows. It ends the use of that one.
func (db *Store) include(ctx context.Context, from *Store) error {
	v, err := from.View()
	if err != nil {
		return err
	}
	defer v.Close()
	parts, least, err := membersOf(ctx, v)
	if err != nil {
		return err
	}
	first, last := db.NextSeq(), uint64(0)
	for _, part := range parts {
		part.Meta.Number = db.allocFile()
		p := db.newPublication(part.Table, true, nil)
		p.own = part.Dead.Base
		err := p.resolve(ctx)
		if err == nil {
			// The tables of a database keep the order of writing among them, whichever came first.
			err = part.NumberFrom(first + (part.Meta.MinSeq - least))
		}
		if err != nil {
			return err
		}
		p.show()
		last = max(last, part.Meta.MaxSeq)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.seq = max(db.seq, last)
	db.allowedSet = db.allowedSet.With(v.Allowed.All())
	return nil
}

// membersOf returns what a view shows as tables, oldest first, with the documents that it does not
// show as tombstones, and their least sequence number. What is in memtables is a table in memory.
func membersOf(ctx context.Context, v *view.View) (parts []view.Part, least uint64, err error) {
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
	mem, err := backup.MemTable(v)
	if err != nil || mem == nil {
		return parts, least, err
	}
	t := &view.Table{Meta: tables.Meta(0, mem.Info()), Name: "memtable of " + v.Path, Reader: mem}
	return append(parts, view.Part{Table: t, Dead: view.NewTombstones(nil)}), min(least, t.Meta.MinSeq), nil
}

// hidden returns the documents of a table that a view does not show.
func hidden(ctx context.Context, v *view.View, in *view.Part) (*roaring.Bitmap, error) {
	dead, _ := in.Dead.UpTo(v.Seq)
	if in.Meta.MinTime >= v.Since && !v.Several {
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
