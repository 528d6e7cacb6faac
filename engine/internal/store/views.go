package store

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
)

// View returns a view of the current state of the database. The caller must close it.
func (db *Store) View() (*view.View, error) {
	v := new(view.View)
	if err := db.TakeView(v); err != nil {
		return nil, err
	}
	return v, nil
}

// TakeView makes v, which must be new or closed, a view of the current state of the database.
func (db *Store) TakeView(v *view.View) error {
	db.Counts.Queries.Add(1)
	if err := db.follow(); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.takeLocked(v)
}

// takeLocked is TakeView for a caller that holds mu.
func (db *Store) takeLocked(v *view.View) error {
	v.Life = db.life()
	if db.current == nil || db.closed.Load() {
		if err := db.endRestLocked(); err != nil {
			return err
		}
	}
	v.Take(&db.Config, db.seq, db.current, db.immutable, db.active, db.allowedSet)
	return nil
}

// acquire returns the current version with a reference, which the caller must release with Unref.
func (db *Store) acquire() (*view.Version, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.current == nil || db.closed.Load() {
		return nil, files.ErrClosed
	}
	db.current.Refs.Add(1)
	return db.current, nil
}

// life says which documents have expired.
func (db *Store) life() view.Life {
	return db.lifeAt(db.Now())
}

// Backup makes or updates the backup at path, as engine.DB.Backup says.
func (db *Store) Backup(ctx context.Context, path string, o backup.Options) (backup.Report, error) {
	if db.Dir == nil {
		return backup.Report{}, fmt.Errorf("%s is not the folder of a database; copy a table file directly: %w", db.Path, files.ErrInvalid)
	}
	from, err := db.freeze()
	if err != nil {
		return backup.Report{}, err
	}
	defer from.View.Close()
	return backup.Run(ctx, from, path, o)
}

// freeze returns the current state of the database. The caller must close its view.
func (db *Store) freeze() (backup.Source, error) {
	v := new(view.View)
	if err := db.follow(); err != nil {
		return backup.Source{}, err
	}
	db.mu.Lock() // tables and the rest of the state change together under mu
	defer db.mu.Unlock()
	if err := db.takeLocked(v); err != nil {
		return backup.Source{}, err
	}
	if err := v.Doubt.Older; err != nil { // a backup has no log that would hold the missing versions
		return backup.Source{}, errors.Join(err, v.Close())
	}
	return backup.Source{
		View: v, Tables: &db.Tables, Options: db.timeOptions(db.TTL()), Marks: maps.Clone(db.marks), NextFile: db.nextFileLocked(), LastSeq: db.seq,
		FS: db.fs, BusyTimeout: db.opts.BusyTimeout,
	}, nil
}
