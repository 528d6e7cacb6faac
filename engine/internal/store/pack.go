package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/table"
)

// Pack writes all visible documents, and no data of others, into one table file at path, which Open
// opens as a read-only database and Ingest adds to others. The file appears whole or not at all. If
// path exists, at the start or at the end, the error is ErrExists. Pack writes a file beside path
// whose name starts with a dot and ends with .tmp; if the process is killed, that file remains. If
// one table cannot hold all documents, Pack returns ErrTooLarge before it writes anything.
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

// Ingest adds the documents of table files, made by Pack or elsewhere, to the database: it copies
// the files unchanged. Their documents count as written now, file after file, and within a file in
// their original order. A document replaces the stored document with the same ID. All files must
// have the parameters of the database, except for the layout. Ingest adds one file at a time; after
// an error, the files before the failed one remain added.
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

// publishIngest makes t part of the database, and marks the documents that it replaces dead.
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
// make by adding them in this order. It writes nothing: it decides by the same steps which
// documents are replaced, and holds the result in memory. A database is read as it is at this
// moment.
func OpenSet(paths []string, o Options) (*Store, error) {
	o.ReadOnly, o.MustExist = true, true
	switch len(paths) {
	case 0:
		return nil, fmt.Errorf("a set needs at least one table: %w", files.ErrInvalid)
	case 1:
		return Open(paths[0], o)
	}
	o = o.withDefaults()
	db := newDB(fmt.Sprintf("%s and %d more", paths[0], len(paths)-1), o)
	db.mu.Lock()
	db.install(nil)
	db.mu.Unlock()
	for i, path := range paths {
		from, err := Open(path, Options{ReadOnly: true, MustExist: true, Memory: o.Memory, Cache: -1, SetCache: db.Tables.Cache, Logger: o.Logger, FS: o.FS, Now: o.Now,
			Features: features.Spec{Function: o.Features.Function, Compute: o.Features.Compute}})
		if err == nil {
			if i == 0 {
				db.SetParams(from.setParams())
				err = o.checkTable(path, db.Params)
			} else if p := from.Params; !p.Compatible(db.Params) {
				p.Layout = db.Params.Layout
				err = fmt.Errorf("%s can't be searched together with %s: it was made with %s: %w", path, paths[0], p.Diff(db.Params), files.ErrParams)
			}
			if err == nil {
				err = db.include(context.Background(), from)
			}
			err = errors.Join(err, from.Close()) // the set holds references to its tables
		}
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// setParams returns the parameters of a set whose first member is db. If the layout of a table is
// the one for its size, the set uses the layout by size, because larger tables would have other
// layouts.
func (db *Store) setParams() table.Params {
	p := db.Params
	if db.Dir == nil && p.Layout == table.ChooseLayout(int64(db.current.Parts[0].Meta.Fingerprints)) {
		p.Layout = table.LayoutBySize
	}
	return p
}

// include adds all documents that another store shows. The caller must not use that store
// afterwards, except to close it.
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
		p.own = part.Dead.Durable()
		if err := p.resolve(ctx); err != nil {
			return err
		}
		// Tables of one database keep their relative order of writing, in any order of publication.
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
