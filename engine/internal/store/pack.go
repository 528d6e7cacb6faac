package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/view"
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
	db.metrics.bytesLoaded.Add(t.Meta.Size)
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
