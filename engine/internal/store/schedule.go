package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/internal/vfs"
)

// Idle reports whether background compaction has nothing to do.
func (db *Store) Idle() bool {
	db.mu.Lock()
	flushing := len(db.immutable) > 0
	db.mu.Unlock()
	return !flushing && db.merges.Idle()
}

// WakeCompact makes background compaction check whether there is something to merge.
func (db *Store) WakeCompact() {
	if !db.opts.NoAutoCompaction {
		db.merges.Busy()
		wake(db.compactC)
	}
}

// compactAuto starts the merges that the policy picks, while there are free slots. It is called
// when tables were added or a merge has ended. A failed merge leaves the tables as they are and is
// tried again after the next flush, unless a table is damaged; only a failed catalog poisons the
// writer.
func (db *Store) compactAuto(ctx context.Context) error {
	if err := db.flushHeld(ctx); err != nil && ctx.Err() == nil {
		db.log.Warn("expired documents stay until older writes leave the log", "path", db.Path, "err", err)
	}
	if db.lockMerges() != nil {
		time.AfterFunc(mergeAgain, db.WakeCompact)
		return nil
	}
	defer db.unlockMerges()
	for ctx.Err() == nil && db.Writable() == nil {
		m, err := db.merges.Next(false)
		if err != nil || m == nil { // closed, or nothing to do
			return nil
		}
		db.wg.Go(func() {
			defer m.Cancel()
			if db.mergeAuto(m) {
				db.WakeCompact()
			} else {
				db.unlockMerges()
			}
		})
	}
	return nil
}

// mergeAgain is after how long a process looks again whether it may merge, while another one does.
const mergeAgain = time.Second

// mergeAuto runs a merge in the background and reports whether other merges may follow: it has
// succeeded, or a damaged table was excluded.
func (db *Store) mergeAuto(m *merges.Merge) bool {
	err := db.merge(m.Ctx, m, db.merging(m, false, nil))
	switch {
	case err == nil || m.Ctx.Err() != nil:
	case vfs.IsNoSpace(err) && errors.Is(err, merges.ErrGaveWay):
		db.log.Info("compaction stopped because the disk is full", "path", db.Path, "tables", m.Tables)
		db.WakeCompact()
	case errors.Is(err, errTablesGone): // others may be due
	default:
		db.log.Error("compaction failed", "path", db.Path, "tables", m.Tables, "err", err)
		db.event(Event{Kind: EventError, Tables: m.Tables, Err: fmt.Errorf("compacting: %w", err)})
		if vfs.IsNoSpace(err) {
			db.WakeCompact() // waits until there may be space
		}
	}
	return err == nil || db.goesOn(err)
}

// compactSmall runs merges of at most merges.SmallWork bytes, as long as any are due, but begins
// none after end except the first.
func (db *Store) compactSmall(end time.Time) {
	if db.lockMerges() != nil {
		return
	}
	for more := true; more && db.Writable() == nil; more = time.Now().Before(end) {
		m, err := db.merges.Next(true)
		if err != nil || m == nil || !db.mergeAuto(m) {
			return
		}
	}
}

// finishMerges ends all merges for Close: see Scheduler.Finish.
func (db *Store) finishMerges(limit time.Duration) {
	db.merges.Close()
	db.mu.Lock()
	db.flushed.Broadcast() // nothing is flushed any more
	db.mu.Unlock()
	db.merges.Finish(limit)
}

// SetCompactionRate sets how many bytes per second all merges write together; 0 means no limit. A
// negative rate prevents background merges from starting, and suspends running ones. Compact and
// CompactDue still work, and Close lets suspended merges continue. While merges are paused, writers are
// not held back, however many tables there are.
func (db *Store) SetCompactionRate(bytes int64) {
	if bytes < 0 {
		db.merges.Pause()
		return
	}
	db.merges.Throttle.SetRate(bytes)
	if db.merges.Throttle.Paused() {
		db.merges.Resume()
	}
}

// Reserve prevents a table from being picked for a merge, until Release.
func (db *Store) Reserve(table uint64) { db.merges.Reserve(table) }

// Release makes reserved tables available to the policy again.
func (db *Store) Release(tables []uint64) { db.merges.Release(tables) }

// WantMerged requests that reserved tables be merged into one, before anything that the policy
// picks.
func (db *Store) WantMerged(tables []uint64) { db.merges.Want(tables) }
