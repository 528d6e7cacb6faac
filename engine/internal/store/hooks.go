package store

import "github.com/simdb/simdb/engine/internal/view"

// The methods below stop the store at moments that callers can't: the tests of package engine use
// them.

// HoldPublishing lets no table be published until release is called.
func (db *Store) HoldPublishing() (release func()) {
	db.publishMu.Lock()
	return db.publishMu.Unlock
}

// StopRotated ends background work and then makes the active memtable immutable, so that nothing
// flushes it.
func (db *Store) StopRotated() error {
	db.stop()
	db.background.wait()
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	return db.rotateLocked()
}

// LocateRaw returns where the document with this ID is that is neither deleted nor replaced, be it
// expired or not.
func (db *Store) LocateRaw(id string) (view.Place, bool, error) {
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	return db.locateLocked(id)
}
