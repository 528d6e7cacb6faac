package store

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/errs"
	"github.com/simdb/simdb/engine/internal/throttle"
	"github.com/simdb/simdb/internal/vfs"
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

	hold      time.Duration // how long merges were postponed the last time; 0 if one has succeeded since
	heldUntil time.Time     // no merge begins in the background before

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
	gaveWay     bool                    // under merges.mu, as giveUp is
	giveUp      context.CancelCauseFunc // ends it; nil until it runs
	done, total atomic.Int64            // documents
	waited      atomic.Int64            // nanoseconds, for the rate or the end of a pause
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
			g.hold = 0
		}
		if vfs.IsNoRoom(did.Err) && !m.gaveWay {
			g.postpone()
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

// smallWork is how many bytes are flushed before a database is open, or merged although it is being
// closed: that takes milliseconds, and a database that is opened for one write at a time has no
// other time for it.
const smallWork = 4 << 20

// now returns the merges that are running.
func (g *merges) now() (running []MergeStats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, j := range g.schedule.Running() {
		m := g.running[j]
		s := MergeStats{
			Inputs: j.Tables, InputBytes: j.Bytes, Reason: string(j.Reason), Started: m.started, Duration: time.Since(m.started),
		}
		if total := m.total.Load(); total > 0 {
			s.Done = float64(m.done.Load()) / float64(total)
		}
		running = append(running, s)
	}
	return running
}
