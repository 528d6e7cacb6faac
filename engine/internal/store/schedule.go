package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/internal/vfs"
)

// Idle reports whether compaction in the background has nothing to do.
func (db *Store) Idle() bool {
	db.mu.Lock()
	flushing := len(db.immutable) > 0
	db.mu.Unlock()
	return !flushing && db.merges.idle.Load()
}

// WakeCompact has compaction look whether there is something to merge.
func (db *Store) WakeCompact() {
	if !db.opts.NoAutoCompaction {
		db.merges.idle.Store(false)
		wake(db.compactC)
	}
}

// compactAuto starts what the policy picks, as long as there is room for it. It is called when
// tables have come or a merge has ended. A failure of a merge leaves the tables as they are and is
// tried again with the next flush; only a failed catalog poisons the writer.
func (db *Store) compactAuto(ctx context.Context) error {
	for ctx.Err() == nil && db.Writable() == nil {
		m, err := db.nextMerge(false)
		if err != nil || m == nil { // closed, or nothing to do
			return nil
		}
		db.wg.Go(func() {
			defer m.cancel()
			if db.mergeAuto(m) {
				db.WakeCompact()
			}
		})
	}
	return nil
}

// mergeAuto runs a merge in the background and reports whether it has succeeded.
func (db *Store) mergeAuto(m *merge) bool {
	err := db.merge(m.ctx, m, false, nil)
	switch {
	case err == nil || m.ctx.Err() != nil:
	case vfs.IsNoRoom(err) && errors.Is(err, errGaveWay):
		db.log.Info("compaction gave way on a full disk", "path", db.Path, "tables", m.Tables)
		db.WakeCompact()
	default:
		db.log.Error("compaction failed", "path", db.Path, "tables", m.Tables, "err", err)
		db.event(Event{Kind: EventError, Tables: m.Tables, Err: fmt.Errorf("compacting: %w", err)})
		if vfs.IsNoRoom(err) {
			db.WakeCompact() // which waits until there may be room
		}
	}
	return err == nil
}

// nextMerge starts the merge in the background that is due; nil if none is, or may be now. While
// the store is being closed only small ones may.
//
// A merge begins only when the database has been open for as long as the merge is expected to take:
// Close finishes it, so it takes no longer than the database was open, and a process that lives
// shortly does not spend its time on a merge again and again.
func (db *Store) nextMerge(closing bool) (*merge, error) {
	g := &db.merges
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing.Load() != closing || g.all > 0 || !closing && g.throttle.Paused() {
		return nil, nil
	}
	tables, o, err := db.policy()
	if err != nil {
		return nil, err
	}
	age := time.Since(g.opened)
	most := max(smallWork, g.speed.within(age))
	free := db.free()
	switch {
	case closing:
		most = smallWork
	case g.large > 0:
		most = min(most, largeMerge)
	case db.countTables() > slowTables:
		most = math.MaxInt64
	}
	var j *compaction.Job
	held := time.Until(g.heldUntil)
	if held <= 0 {
		j = db.takeWanted(tables, func(bytes int64) bool { return bytes <= min(most, free) && g.schedule.Room(bytes) })
		if j == nil {
			j = g.schedule.Next(db.unreserved(tables), min(most, free), o)
		}
	}
	if j == nil && held <= 0 && free < most { // one whose tables have much that is dead
		if j = g.schedule.Next(db.unreserved(tables), most, o); j != nil && resultSize(j, tables, o) > free {
			held, j = spaceLook, nil
		}
	}
	if j == nil {
		if len(g.running) == 0 {
			g.idle.Store(true)
			g.signal()
		}
		if !closing {
			g.lookAgain(db, tables, most, age, held)
		}
		return nil, nil
	}
	return g.start(j, true), nil
}

// lookAgain wakes compaction when there may be something to do although no table has come: the
// database has been open for longer, or documents have expired, or for lack of space merges were
// held back until held is over. The caller holds mu.
func (g *merges) lookAgain(db *Store, tables []compaction.Table, most int64, age, held time.Duration) {
	in := time.Duration(math.MaxInt64)
	if held > 0 {
		in = held
	}
	bytes := int64(0)
	for _, t := range tables {
		bytes += t.Size
	}
	if bytes > most && len(tables) > 1 {
		in = min(in, max(age/4, time.Second))
	}
	if db.TTL > 0 && len(tables) > 0 {
		in = min(in, max(min(db.TTL/ttlLooks, longestLook), shortestLook))
	}
	if g.later != nil {
		g.later.Stop()
	}
	if in < math.MaxInt64 {
		g.later = time.AfterFunc(in, db.WakeCompact)
	}
}

// How often compaction looks for what has expired: ttlLooks times in a time to live, but within
// limits.
const (
	ttlLooks     = 64
	shortestLook = time.Second
	longestLook  = 10 * time.Minute
)

// finishMerges ends all merges, as Close does: those in the background that are expected to end
// within limit are finished, at full speed; if that is 0, all are. What a caller waits for is
// finished. No merge starts any more but small ones of nextMerge.
func (db *Store) finishMerges(limit time.Duration) {
	g := &db.merges
	g.throttle.Open()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.later != nil {
		g.later.Stop()
	}
	g.closing.Store(true)
	g.signal()
	db.mu.Lock()
	db.flushed.Broadcast() // nothing is flushed any more
	db.mu.Unlock()
	if limit != 0 {
		for _, m := range g.running {
			if m.background && m.remaining(&g.speed) > limit {
				m.cancel()
			}
		}
		late := time.AfterFunc(max(limit, 0), g.cancelAll)
		defer late.Stop()
	}
	for len(g.running) > 0 {
		g.sleep(context.Background())
	}
}

// PauseCompaction keeps merges from starting in the background, and has those that run wait, until
// ResumeCompaction. What a caller requests (Compact, CompactDue) is done all the same, and Close
// finishes what waits. Meanwhile writers are not held back, however many tables there are.
func (db *Store) PauseCompaction() {
	db.merges.throttle.Pause(true)
	db.merges.mu.Lock()
	defer db.merges.mu.Unlock()
	db.merges.signal() // to writers
}

// ResumeCompaction ends what PauseCompaction began.
func (db *Store) ResumeCompaction() {
	db.merges.throttle.Pause(false)
	db.WakeCompact()
}

// SetCompactionRate sets how many bytes a second merges write together; 0 means no limit.
func (db *Store) SetCompactionRate(bytes int64) { db.merges.throttle.SetRate(bytes) }
