package store

import (
	"context"
	"fmt"
	"maps"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
)

// Backup makes or brings up to date the backup at path, as engine.DB.Backup says.
func (db *Store) Backup(ctx context.Context, path string, o backup.Options) (backup.Report, error) {
	if db.Dir == nil {
		return backup.Report{}, fmt.Errorf("%s is one table file, which can be copied as it is: %w", db.Path, files.ErrInvalid)
	}
	from, err := db.freeze()
	if err != nil {
		return backup.Report{}, err
	}
	defer from.View.Close()
	return backup.Run(ctx, from, path, o)
}

// freeze returns the state of the database now. Its view must be closed.
func (db *Store) freeze() (backup.Source, error) {
	v := &view.View{Since: db.expiry()}
	db.mu.Lock() // under which tables and what came with them change at once
	defer db.mu.Unlock()
	if db.current == nil || db.closed.Load() {
		if err := db.endRestLocked(); err != nil {
			return backup.Source{}, err
		}
	}
	v.Take(&db.Config, db.seq, db.current, db.immutable, db.active, db.allowedSet)
	return backup.Source{
		View: v, Tables: &db.Tables, Marks: maps.Clone(db.marks), NextFile: db.nextFile, FS: db.fs, BusyTimeout: db.opts.BusyTimeout,
	}, nil
}
