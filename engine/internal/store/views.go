package store

import (
	"math"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
)

// View returns a view of the database as it is now. It must be closed.
func (db *Store) View() (*view.View, error) {
	v := new(view.View)
	if err := db.TakeView(v); err != nil {
		return nil, err
	}
	return v, nil
}

// TakeView makes v, which is new or closed, a view of the database as it is now.
func (db *Store) TakeView(v *view.View) error {
	v.Since = db.expiry()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.current == nil || db.closed.Load() {
		if err := db.endRestLocked(); err != nil {
			return err
		}
	}
	v.Take(&db.Config, db.seq, db.current, db.immutable, db.active, db.allowedSet)
	db.metrics.queries.Add(1)
	return nil
}

// acquire returns the current version with a reference to release by unref.
func (db *Store) acquire() (*view.Version, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.current == nil || db.closed.Load() {
		return nil, files.ErrClosed
	}
	db.current.Refs.Add(1)
	return db.current, nil
}

// expiry returns the time, in microseconds, before which documents have expired.
func (db *Store) expiry() int64 {
	if db.TTL <= 0 {
		return math.MinInt64
	}
	return db.Now().Add(-db.TTL).UnixMicro()
}
