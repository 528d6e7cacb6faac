package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// Pack writes all visible documents, and nothing of others, into one table file at path, which Open
// opens as a read-only database and Ingest adds to others. The file appears whole or not at all;
// one that is there already, at the start or at the end, is ErrExists. It is written beside path,
// under a name that starts with a dot and ends with .tmp, which a process that is killed leaves.
// More documents than one table can have are ErrTooLarge, before anything is written.
func (db *Store) Pack(ctx context.Context, path string, progress func(view.Progress)) error {
	if err := backup.Vacant(db.fs, path); err != nil {
		return err
	}
	if !db.opts.ReadOnly {
		if err := db.Flush(ctx); err != nil {
			return err
		}
	}
	v, err := db.View()
	if err != nil {
		return err
	}
	defer v.Close()
	return backup.Write(ctx, db.fs, path, v, &db.Tables, progress)
}

// Ingest adds the documents of table files, made by Pack or elsewhere, to the database: the files
// are copied into it as they are. Their documents count as written now, file after file, those of
// one file in the order in which they were written before. A document whose ID is stored replaces
// the stored one. All of the files must have the database's parameters, all but the layout; they
// are added one after the other, and an error leaves those before it added.
func (db *Store) Ingest(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if err := db.ingest(ctx, path); err != nil {
			return fmt.Errorf("ingesting %s: %w", path, err)
		}
	}
	return nil
}

func (db *Store) ingest(ctx context.Context, path string) error {
	if err := db.Writable(); err != nil {
		return err
	}
	t, err := db.Tables.Adopt(ctx, db.fs, path)
	if err != nil {
		return err
	}
	if err := db.publishIngest(ctx, t); err != nil {
		return errors.Join(err, db.Drop(t))
	}
	db.Counts.BytesLoaded.Add(t.Meta.Size)
	db.WakeCompact()
	return nil
}

// publishIngest makes t part of the database; the documents that it replaces are dead.
func (db *Store) publishIngest(ctx context.Context, t *view.Table) error {
	p := db.newPublication(t, true, nil)
	var err error
	if p.allow, err = backup.ReadAllowed(t); err != nil {
		return err
	}
	if err := p.search(ctx); err != nil {
		return err
	}
	return p.run(ctx)
}

// OpenSet opens several tables and databases as one read-only database: the one that Ingest would
// make of them in this order. Nothing is written: the same steps find which documents are replaced,
// and memory holds the outcome. A database is taken as it is at this moment.
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
		if err == nil {
			if i == 0 {
				db.SetParams(from.setParams())
				err = o.check(path, db.Params, 0)
			} else if p := from.Params; !p.Compatible(db.Params) {
				p.Layout = db.Params.Layout
				err = fmt.Errorf("%s can't be searched together with %s: it was made with %s: %w", path, paths[0], p.Diff(db.Params), files.ErrParams)
			}
			if err == nil {
				err = db.include(context.Background(), from)
			}
			err = errors.Join(err, from.Close()) // the set keeps its tables open
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
	parts, least, err := backup.Members(ctx, v)
	if err != nil {
		return err
	}
	first, last := db.NextSeq(), uint64(0)
	for _, part := range parts {
		part.Meta.Number = db.allocFile()
		p := db.newPublication(part.Table, true, nil)
		p.own = part.Dead.Base
		if err := p.resolve(ctx); err != nil {
			return err
		}
		// The tables of a database keep the order of writing among them, whichever came first.
		if err := part.NumberFrom(first + (part.Meta.MinSeq - least)); err != nil {
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
