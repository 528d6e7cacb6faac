package store

import (
	"context"
	"math"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/internal/vfs"
)

// Limits of the number of tables. Tables that are more than half full, or damaged, do not count,
// because no merge would reduce their number. A memtable that waits for its flush counts as a
// table.
const (
	// slowTables is the number above which writers are slowed, increasingly up to stopTables.
	slowTables = 12
	// stopTables is the number at which no new memtable is created: writers wait for a merge. There
	// are never more tables, except for those of loads, of ingested files and of Flush.
	stopTables = 16
)

// The reasons of EventStall.
const (
	StallTables    = "tables"    // there are too many tables
	StallMemtables = "memtables" // too many memtables wait for their flush
)

// TableCount returns how many tables count for the limits of writers.
func (db *Store) TableCount() int { return int(db.tableCount.Load()) }

// StoppedWriters returns how many writers wait because there are too many tables.
func (db *Store) StoppedWriters() int { return int(db.stoppedWriters.Load()) }

// countTables returns how many tables count for the limits, including memtables that wait for their
// flush.
func (db *Store) countTables() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	return int(db.tableCount.Load()) + len(db.immutable)
}

// Crowded reports whether the number of tables slows writers.
func (db *Store) Crowded() bool { return db.countTables() > slowTables }

// tooManyTables reports whether a writer must wait for a merge before it starts a memtable.
func (db *Store) tooManyTables() bool {
	return db.countTables() >= stopTables && db.merges.Unfinished()
}

// waitTables waits until a memtable may be started.
func (db *Store) waitTables(ctx context.Context) error {
	start := time.Now()
	db.stoppedWriters.Add(1)
	defer db.stoppedWriters.Add(-1)
	holds := func() bool { return db.Writable() == nil && db.tooManyTables() }
	err := error(nil)
	if db.sharing == nil {
		err = db.merges.WaitWhile(ctx, holds)
	}
	for db.sharing != nil && err == nil && holds() { // another process may merge
		if err = sleep(ctx, mergePoll); err == nil {
			err = db.follow()
		}
	}
	db.stalled(StallTables, start)
	return err
}

// stalled records that a write has waited.
func (db *Store) stalled(reason compaction.Reason, start time.Time) {
	took := time.Since(start)
	db.Counts.Stalls.Add(1)
	db.Counts.StallTime.Add(int64(took))
	db.event(Event{Kind: EventStall, Reason: reason, Duration: took})
}

// lagLocked returns how long to delay a write so that memtables are not filled faster than merges
// reduce the number of tables. It is 0 unless there are more than slowTables. The caller holds
// writeMu.
func (db *Store) lagLocked() time.Duration {
	if db.tableCount.Load() <= slowTables {
		return 0
	}
	over := db.countTables() - slowTables
	if over <= 0 || !db.merges.Unfinished() {
		return 0
	}
	fill := float64(db.active.Bytes) / float64(db.opts.MemtableBytes)
	due := time.Duration(fill * float64(over) * float64(db.merges.TableTime()))
	return min(due-time.Since(db.rotated), longestLag)
}

const (
	shortestLag = time.Millisecond // shorter sleeps are inaccurate
	longestLag  = 100 * time.Millisecond
)

// slow delays a write by lag.
func (db *Store) slow(ctx context.Context, lag time.Duration) error {
	db.Counts.SlowTime.Add(int64(lag))
	return sleep(ctx, lag)
}

// On a nearly full disk, writes and flushes have precedence over merges. A merge needs space for
// its result, and frees space only when the result is published. A background merge therefore
// begins only if there is space for its result, and every merge gives way when a log or a flush
// finds no space. An operation that finds no space even then has changed nothing, and the next
// write tries it again.

// fullTries limits the attempts of an operation that finds no space, while merges end.
const fullTries = 4

// shouldRetry reports whether to retry an operation that failed with err after some tries: it found
// no space, and merges have given way. The caller holds no lock.
func (db *Store) shouldRetry(ctx context.Context, err error, tries int) bool {
	if !vfs.IsNoSpace(err) || tries >= fullTries || ctx.Err() != nil || db.closed.Load() {
		return false
	}
	// A merge that has just ended may have occupied the space, and is no longer listed.
	return db.merges.GiveWay(ctx) > 0 || tries == 0
}

// Free returns how many bytes of the disk background merges may use.
func (db *Store) Free() int64 {
	if db.fs != vfs.Disk {
		return math.MaxInt64
	}
	n, ok := vfs.Free(db.Path)
	if !ok {
		return math.MaxInt64
	}
	return n - min(int64(db.opts.MemtableBytes), n/8) // reserve for the log and the next table
}
