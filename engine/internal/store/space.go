package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/internal/vfs"
)

// On a disk that is nearly full, writes and flushes have precedence over merges, which need space
// for their results and give it back only when these are published: a merge in the background
// begins only if there is space for its result, and every merge gives way when a log or a flush
// finds no room. What finds no room even then has changed nothing, and is tried again by the next
// write.

// errGaveWay is why a merge ends that gives way.
var errGaveWay = errors.New("a merge gave its space to a write")

// most tries of something that finds no room, while merges end.
const fullTries = 4

// again reports whether something that failed with err after some tries is to be tried again: if
// it found no room, and merges have given way. The caller holds no lock.
func (db *Store) again(ctx context.Context, err error, tries int) bool {
	if !vfs.IsNoRoom(err) || tries >= fullTries || ctx.Err() != nil || db.closed.Load() {
		return false
	}
	// One that has ended by itself, of which nobody knows any more, may have taken the space.
	return db.merges.giveWay(ctx) > 0 || tries == 0
}

// giveWay ends all merges that run, and returns how many there were. Their unfinished files are
// gone when it returns.
func (g *merges) giveWay(ctx context.Context) (ended int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.postpone()
	var all []*merge
	for _, m := range g.running {
		all = append(all, m)
		m.gaveWay = true
		if m.giveUp != nil {
			m.giveUp(errGaveWay)
		}
	}
	for _, m := range all {
		for g.running[m.Job] == m {
			if g.sleep(ctx) != nil {
				return ended
			}
		}
		ended++
	}
	return ended
}

// How long no merge begins in the background after one has given way, or found no room itself.
const (
	shortestHold = time.Second
	longestHold  = time.Minute
)

// postpone keeps merges from beginning in the background for a while, longer each time until one
// succeeds. The caller holds mu.
func (g *merges) postpone() {
	g.hold = min(max(2*g.hold, shortestHold), longestHold)
	g.heldUntil = time.Now().Add(g.hold)
}

// run returns a context for a merge that ends when the merge gives way; the caller calls done.
func (g *merges) run(ctx context.Context, m *merge) (running context.Context, done func()) {
	running, giveUp := context.WithCancelCause(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	m.giveUp = giveUp
	if m.gaveWay {
		giveUp(errGaveWay)
	}
	return running, func() { giveUp(nil) }
}

// why returns why a merge failed in a context of run: for lack of room if it gave way.
func why(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errGaveWay {
		err = &vfs.NoRoomError{Err: fmt.Errorf("%w: %w", errGaveWay, syscall.ENOSPC)}
	}
	return err
}

// spaceLook is how often compaction looks for space while there is too little.
const spaceLook = 5 * time.Second

// free returns how many bytes merges in the background may take of the disk.
func (db *Store) free() int64 {
	if db.fs != vfs.Disk {
		return math.MaxInt64
	}
	n, ok := vfs.Free(db.Path)
	if !ok {
		return math.MaxInt64
	}
	return n - min(int64(db.opts.MemtableBytes), n/8) // for the log and the next table
}

// resultSize estimates how many bytes a merge writes.
func resultSize(j *compaction.Job, tables []compaction.Table, o compaction.Options) (size int64) {
	for _, t := range tables {
		for _, number := range j.Tables {
			if t.Number == number && t.Docs > 0 && (t.Held || t.MaxTime >= o.Expired) {
				size += int64(float64(t.Size) * float64(t.Docs-t.Dead) / float64(t.Docs))
			}
		}
	}
	return size
}
