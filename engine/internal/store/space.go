package store

import (
	"context"
	"math"

	"github.com/simdb/simdb/internal/vfs"
)

// On a disk that is nearly full, writes and flushes have precedence over merges, which need space
// for their results and give it back only when these are published: a merge in the background
// begins only if there is space for its result, and every merge gives way when a log or a flush
// finds no space. What finds no space even then has changed nothing, and is tried again by the next
// write.

// fullTries is the most tries of something that finds no space, while merges end.
const fullTries = 4

// shouldRetry reports whether something that failed with err after some tries should be retried: if
// it found no space, and merges have given way. The caller holds no lock.
func (db *Store) shouldRetry(ctx context.Context, err error, tries int) bool {
	if !vfs.IsNoRoom(err) || tries >= fullTries || ctx.Err() != nil || db.closed.Load() {
		return false
	}
	// One that has ended by itself, of which nobody knows any more, may have taken the space.
	return db.merges.GiveWay(ctx) > 0 || tries == 0
}

// Free returns how many bytes merges in the background may take of the disk.
func (db *Store) Free() int64 {
	if db.fs != vfs.Disk {
		return math.MaxInt64
	}
	n, ok := vfs.Free(db.Path)
	if !ok {
		return math.MaxInt64
	}
	return n - min(int64(db.opts.MemtableBytes), n/8) // for the log and the next table
}
