package store

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/errs"
	"github.com/simdb/simdb/engine/internal/throttle"
)

// merges is which merges run, and which may start. All of them are in its schedule, those in the
// background and those that a caller waits for, so that no two have a table in common.
type merges struct {
	throttle *throttle.Throttle
	opened   time.Time

	mu       sync.Mutex // taken before all other locks
	schedule compaction.Schedule
	running  map[*compaction.Job]*merge
	past     []MergeStats  // those that have ended last, oldest first
	changed  chan struct{} // closed, and replaced, when a merge ends or when one may start
	large    int           // calls of Compact that wait for large merges to end: none starts
	all      int           // calls that wait for all merges to end: none starts at all
	later    *time.Timer   // wakes compaction; nil for never
	speed    speed

	closing atomic.Bool  // the store is being closed; set under mu
	failing atomic.Bool  // the last merge failed
	idle    atomic.Bool  // compaction has found nothing to start, and nothing runs
	table   atomic.Int64 // speed.table, in nanoseconds
}

// A merge is one that runs. What it did is in its stats once it has ended.
type merge struct {
	*compaction.Job
	started     time.Time
	background  bool
	ctx         context.Context // of a merge in the background, with its cancel; nil for others
	cancel      context.CancelFunc
	done, total atomic.Int64 // documents
	waited      atomic.Int64 // nanoseconds, for the rate or the end of a pause
}

// remaining estimates how long the merge will go on at full speed: from its bytes, until a
// twentieth is done.
func (m *merge) remaining(s *speed) time.Duration {
	done, total := m.done.Load(), m.total.Load()
	if total == 0 || done*20 < total {
		return s.of(m.Bytes)
	}
	worked := time.Since(m.started) - time.Duration(m.waited.Load())
	return time.Duration(float64(worked) * float64(total-done) / float64(done))
}

// speed remembers how fast merges were.
type speed struct {
	bytes, tables time.Duration // for a gibibyte, and for a table less; 0 before the first merge
}

// The speed of merging before any has been measured: 100 MiB a second.
const (
	firstSpeed = (1 << 30) / (100 << 20) * time.Second
	firstTable = 50 * time.Millisecond
)

// measured notes that a merge of some bytes took so long, and made the tables fewer.
func (s *speed) measured(bytes int64, fewer int, took time.Duration) {
	if bytes <= 0 {
		return
	}
	mean := func(old, now time.Duration) time.Duration {
		if old == 0 {
			return now
		}
		return old - old/4 + now/4
	}
	if bytes > smallWork/4 { // otherwise it is syncing that takes the time
		s.bytes = mean(s.bytes, time.Duration(float64(took)*(1<<30)/float64(bytes)))
	}
	if fewer > 0 {
		s.tables = mean(s.tables, took/time.Duration(fewer))
	}
}

// of estimates how long a merge of some bytes takes.
func (s *speed) of(bytes int64) time.Duration {
	per := s.bytes
	if per == 0 {
		per = firstSpeed
	}
	return time.Duration(float64(per) * float64(bytes) / (1 << 30))
}

// within estimates how many bytes can be merged in a time.
func (s *speed) within(d time.Duration) int64 {
	return int64(float64(d) / float64(s.of(1<<30)) * (1 << 30))
}

// largeMerge is how many bytes make a merge that Compact keeps from starting while it waits.
const largeMerge = 64 << 20

// init prepares merges; the store has just been opened.
func (g *merges) init(slots int, rate int64) {
	g.throttle = throttle.New(rate)
	g.opened = time.Now()
	g.running = map[*compaction.Job]*merge{}
	g.changed = make(chan struct{})
	g.schedule.Slots = slots
	if slots == 0 { // each merge takes half of the processors, see mergeTables
		g.schedule.Slots = max(runtime.GOMAXPROCS(0)/2, 1)
	}
	g.idle.Store(true)
	g.table.Store(int64(firstTable))
}

// signal wakes all who wait. The caller holds mu.
func (g *merges) signal() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// start notes that a job has begun. The caller holds mu.
func (g *merges) start(j *compaction.Job, background bool) *merge {
	m := &merge{Job: j, started: time.Now(), background: background}
	if background {
		m.ctx, m.cancel = context.WithCancel(context.Background())
	}
	g.schedule.Start(j)
	g.running[j] = m
	return m
}

// take keeps a table from being merged until giveBack is called; it returns false if a merge has
// it.
func (g *merges) take(number uint64) (giveBack func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.schedule.Take(number) {
		return nil, false
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.schedule.GiveBack(number)
		g.signal()
	}, true
}

// end notes that a merge has ended, and what it did; nil if it was given up before it began.
func (g *merges) end(m *merge, did *MergeStats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.schedule.End(m.Job)
	delete(g.running, m.Job)
	if did != nil {
		if did.Err == nil {
			g.speed.measured(m.Bytes, len(m.Tables)-1, did.Duration-time.Duration(m.waited.Load()))
			g.table.Store(int64(g.speed.tables))
		}
		g.failing.Store(did.Err != nil)
		g.past = append(g.past, *did)
		if n := len(g.past) - pastMerges; n > 0 {
			g.past = slices.Clone(g.past[n:])
		}
	}
	g.signal()
}

// pastMerges is how many merges that have ended are remembered.
const pastMerges = 16

// sleep waits until something has changed, or the context ends. The caller holds mu.
func (g *merges) sleep(ctx context.Context) error {
	changed := g.changed
	g.mu.Unlock()
	defer g.mu.Lock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
		return nil
	}
}

// await waits until ready returns true; the error is that of the context, or ErrClosed once the
// store is being closed. The caller holds mu, and so does ready.
func (g *merges) await(ctx context.Context, ready func() bool) error {
	for !g.closing.Load() {
		if ready() {
			return nil
		}
		if err := g.sleep(ctx); err != nil {
			return err
		}
	}
	return errs.ErrClosed
}

// unfinished reports whether tables may soon be fewer without anybody doing something: a merge runs
// or will start, and the last one did not fail.
func (g *merges) unfinished() bool {
	return !g.idle.Load() && !g.failing.Load() && !g.closing.Load() && !g.throttle.Paused()
}

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
	if err != nil && m.ctx.Err() == nil {
		db.log.Error("compaction failed", "path", db.Path, "tables", m.Tables, "err", err)
		db.event(Event{Kind: EventError, Tables: m.Tables, Err: fmt.Errorf("compacting: %w", err)})
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
	switch {
	case closing:
		most = smallWork
	case g.large > 0:
		most = min(most, largeMerge)
	case db.countTables() > slowTables:
		most = math.MaxInt64
	}
	j := db.takeWanted(tables, func(bytes int64) bool { return bytes <= most && g.schedule.Room(bytes) })
	if j == nil {
		j = g.schedule.Next(db.unreserved(tables), most, o)
	}
	if j == nil {
		if len(g.running) == 0 {
			g.idle.Store(true)
			g.signal()
		}
		if !closing {
			g.lookAgain(db, tables, most, age)
		}
		return nil, nil
	}
	return g.start(j, true), nil
}

// lookAgain wakes compaction when there may be something to do although no table has come: the
// database has been open for longer, or documents have expired. The caller holds mu.
func (g *merges) lookAgain(db *Store, tables []compaction.Table, most int64, age time.Duration) {
	in := time.Duration(math.MaxInt64)
	bytes := int64(0)
	for _, t := range tables {
		bytes += t.Size
	}
	if bytes > most && len(tables) > 1 {
		in = max(age/4, time.Second)
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

// How often compaction looks for what has expired: so many times in a time to live, but within
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

// cancelAll ends the merges in the background.
func (g *merges) cancelAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.running {
		if m.background {
			m.cancel()
		}
	}
}

// PauseCompaction keeps merges from starting in the background, and has those that run wait, until
// ResumeCompaction. What a caller asks for (Compact, CompactDue) is done all the same, and Close
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
