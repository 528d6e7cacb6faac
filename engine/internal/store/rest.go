package store

import (
	"errors"
	"io/fs"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
)

// ReleaseDeleted closes the tables of a reader whose files another process has removed. If there
// were any, the reader rests: it holds the other tables open, and reads the database again when it
// is next used. ReleaseDeleted reports whether tables are still open.
func (db *Store) ReleaseDeleted() (holds bool, err error) {
	db.readMu.Lock()
	defer db.readMu.Unlock()
	switch {
	case db.closed.Load():
		return false, files.ErrClosed
	case !db.opts.ReadOnly || db.Dir == nil:
		return false, nil
	}
	db.mu.Lock() // readMu guards the reader's state against changes
	have := db.current
	if have == nil {
		have = db.resting
	}
	db.mu.Unlock()
	var parts []view.Part
	for _, p := range have.Parts {
		there, err := db.hasFile(p.Meta.Number)
		if err != nil {
			return true, err
		}
		if there {
			parts = append(parts, p)
		}
	}
	if len(parts) == len(have.Parts) {
		return len(parts) > 0, nil
	}
	kept := view.NewVersion(parts, db.Small)
	db.writeMu.Lock()
	db.mu.Lock()
	db.current, db.resting, db.active = nil, kept, view.NewMemtable(db.Params)
	db.readTo.txid = 0 // makes Refresh read everything
	db.mu.Unlock()
	db.writeMu.Unlock()
	db.unref(have)
	return len(parts) > 0, nil
}

// hasFile reports whether the folder has the file of a table.
func (db *Store) hasFile(number uint64) (bool, error) {
	for _, name := range []string{files.TableName(number), files.NewTableName(number), files.TableName(number)} { // the file may be renamed meanwhile
		_, err := db.Dir.Stat(name)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// endRestLocked reads the database if the reader rests, and otherwise returns ErrClosed. The caller
// holds mu, which is released meanwhile.
func (db *Store) endRestLocked() error {
	for db.current == nil {
		if db.resting == nil || db.closed.Load() {
			return files.ErrClosed
		}
		db.mu.Unlock()
		err := db.readAgain()
		db.mu.Lock()
		if err != nil {
			return err
		}
	}
	if db.closed.Load() {
		return files.ErrClosed
	}
	return nil
}

// readAgain reads the database if the reader still rests.
func (db *Store) readAgain() error {
	db.readMu.Lock()
	defer db.readMu.Unlock()
	db.mu.Lock()
	rests := db.current == nil && !db.closed.Load()
	db.mu.Unlock()
	if !rests { // another goroutine was faster
		return nil
	}
	return db.readAll()
}
