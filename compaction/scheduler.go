package compaction

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// A Store is the store whose tables are merged. Its methods are called with the lock of the
// Scheduler held.
type Store interface {
	Writable() error // why nothing is written, or nil
	Policy() ([]Table, Options, error)
	Groups() ([]*Job, error) // all tables, in merges of as many as one table can take
	Free() int64             // bytes that merges in the background may take of the disk
	Crowded() bool           // the number of tables slows writers
	WakeCompact()            // has Next called soon
}

// A Scheduler is which merges run, and which may start. All of them are in its schedule, those in
// the background and those that a caller waits for, so that no two have a table in common.
type Scheduler struct {
	Throttle *Throttle // of what merges write

	store  Store
	opened time.Time
	loads  loads

	mu       sync.Mutex // taken before all locks of the store
	schedule Schedule
	running  map[*Job]*Merge
	past     []Stats       // those that have ended last, oldest first
	changed  chan struct{} // closed, and replaced, when a merge ends or when one may start
	large    int           // calls of Compact that wait for large merges to end: none starts
	all      int           // calls that wait for all merges to end: none starts at all
	later    *time.Timer   // wakes compaction; nil for never
	speed    speed

	hold      time.Duration // how long merges were postponed the last time; 0 if one has succeeded since
	heldUntil time.Time     // no merge begins in the background before

	closing atomic.Bool  // the store is being closed; set under mu
	failing atomic.Bool  // the last merge failed, and not because a table is damaged
	idle    atomic.Bool  // compaction has found nothing to start, and nothing runs
	table   atomic.Int64 // speed.table, in nanoseconds
}

// A Merge is a running merge. Its Stats say what it did once it has ended.
type Merge struct {
	*Job
	Background bool            // no caller waits for it
	Ctx        context.Context // of a merge in the background; nil for others
	cancel     context.CancelFunc

	started     time.Time
	gaveWay     bool                    // under mu, as giveUp is
	giveUp      context.CancelCauseFunc // ends it; nil until it runs
	done, total atomic.Int64            // documents
	waited      atomic.Int64            // nanoseconds, for the rate or the end of a pause
}

// loads is what loads say about the tables that they write: the policy leaves those of a load that
// continues alone, so that each is merged once, with all the others.
type loads struct {
	mu       sync.Mutex      // taken after that of the Scheduler
	reserved map[uint64]bool // tables
	wanted   [][]uint64      // to be merged into one each; their tables are reserved
}

// release is Release under the lock.
func (l *loads) release(tables []uint64) {
	for _, t := range tables {
		delete(l.reserved, t)
	}
}

// NewScheduler returns the scheduler of a store that has just been opened: slots is how many merges
// of any size run at a time, 0 for the default, and rate how many bytes a second they write, 0 for
// no limit.
func NewScheduler(store Store, slots int, rate int64) *Scheduler {
	g := &Scheduler{
		Throttle: NewThrottle(rate), store: store, opened: time.Now(), running: map[*Job]*Merge{}, changed: make(chan struct{}),
	}
	g.schedule.Slots = slots
	if slots == 0 { // each merge takes half of the processors, see Merge.Workers
		g.schedule.Slots = halfOfProcessors()
	}
	g.idle.Store(true)
	g.table.Store(int64(firstTable))
	return g
}

func halfOfProcessors() int { return max(runtime.GOMAXPROCS(0)/2, 1) }

// remaining estimates how long the merge will continue at full speed: from its bytes, until a
// twentieth is done.
func (m *Merge) remaining(s *speed) time.Duration {
	done, total := m.done.Load(), m.total.Load()
	if total <= 0 || done*20 < total {
		return s.of(m.Bytes)
	}
	worked := time.Since(m.started) - time.Duration(m.waited.Load())
	return time.Duration(float64(worked) * float64(total-done) / float64(done))
}

// Workers returns how many goroutines the merge may use, 0 for all processors.
func (m *Merge) Workers() int {
	if m.Background {
		return halfOfProcessors()
	}
	return 0
}

// Progress notes how many documents the merge has done.
func (m *Merge) Progress(done, total int64) {
	m.total.Store(total)
	m.done.Store(done)
}

// Cancel releases the resources of a merge in the background, and ends it if it is running.
func (m *Merge) Cancel() { m.cancel() }

// Writer returns a writer to out that writes at the rate allowed for the merge m.
func (g *Scheduler) Writer(ctx context.Context, out io.Writer, m *Merge) io.Writer {
	return pacedWriter{
		Ctx: ctx, Out: out, Throttle: g.Throttle, Background: m.Background,
		Waited: func(d time.Duration) { m.waited.Add(int64(d)) },
	}
}

// signal wakes all who wait. The caller holds mu.
func (g *Scheduler) signal() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// start notes that a job has begun. The caller holds mu.
func (g *Scheduler) start(j *Job, background bool) *Merge {
	m := &Merge{Job: j, started: time.Now(), Background: background}
	if background {
		m.Ctx, m.cancel = context.WithCancel(context.Background())
	}
	g.schedule.Start(j)
	g.running[j] = m
	return m
}

// Take keeps a table from being merged until giveBack is called; it returns false if a merge has
// it.
func (g *Scheduler) Take(number uint64) (giveBack func(), ok bool) {
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

// End notes that a merge has ended, and what it did; nil if it was given up before it began.
func (g *Scheduler) End(m *Merge, did *Stats) {
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
		g.failing.Store(did.Err != nil && !errors.Is(did.Err, base.ErrCorruption))
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
func (g *Scheduler) sleep(ctx context.Context) error {
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

// postpone keeps merges from beginning in the background for a while, longer each time until one
// succeeds. The caller holds mu.
func (g *Scheduler) postpone() {
	g.hold = min(max(2*g.hold, shortestHold), longestHold)
	g.heldUntil = time.Now().Add(g.hold)
}

// How long no merge begins in the background after one has given way, or found no space itself.
const (
	shortestHold = time.Second
	longestHold  = time.Minute
)

// ErrClosing is the error of waiting for a merge while the store is being closed.
var ErrClosing = errors.New("the store is being closed")

// await waits until ready returns true; the error is that of the context, or ErrClosing once the
// store is being closed. The caller holds mu, and so does ready.
func (g *Scheduler) await(ctx context.Context, ready func() bool) error {
	for !g.closing.Load() {
		if ready() {
			return nil
		}
		if err := g.sleep(ctx); err != nil {
			return err
		}
	}
	return ErrClosing
}

// WaitWhile waits as long as a condition holds. It checks the condition whenever a merge has
// ended or may start. It returns the error of the context.
func (g *Scheduler) WaitWhile(ctx context.Context, holds func() bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := ctx.Err()
	for err == nil && holds() {
		err = g.sleep(ctx)
	}
	return err
}

// Unfinished reports whether merges may still reduce the number of tables: one is running or
// will start, and the last one did not fail.
func (g *Scheduler) Unfinished() bool {
	return !g.idle.Load() && !g.failing.Load() && !g.closing.Load() && !g.Throttle.Paused()
}

// cancelAll ends the merges in the background.
func (g *Scheduler) cancelAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.running {
		if m.Background {
			m.cancel()
		}
	}
}

// Running returns the merges that are running.
func (g *Scheduler) Running() (running []Stats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, j := range g.schedule.Running() {
		m := g.running[j]
		s := Stats{
			Inputs: j.Tables, InputBytes: j.Bytes, Reason: j.Reason, Started: m.started, Duration: time.Since(m.started),
		}
		if total := m.total.Load(); total > 0 {
			s.Done = float64(m.done.Load()) / float64(total)
		}
		running = append(running, s)
	}
	return running
}

// Past returns the merges that ended last, oldest first.
func (g *Scheduler) Past() []Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.past
}

// Idle reports whether compaction in the background has nothing to do.
func (g *Scheduler) Idle() bool { return g.idle.Load() }

// Busy notes that there may be something to do.
func (g *Scheduler) Busy() { g.idle.Store(false) }

// Closing reports whether only small merges may start.
func (g *Scheduler) Closing() bool { return g.closing.Load() }

// TableTime returns how long merges have recently taken to reduce the number of tables by one.
func (g *Scheduler) TableTime() time.Duration { return time.Duration(g.table.Load()) }

// Stats is what a merge of tables did, or has done so far.
type Stats struct {
	Inputs         []uint64      `json:"inputs"` // numbers of the tables
	InputDocuments int64         `json:"input_documents"`
	InputBytes     int64         `json:"input_bytes"`
	Output         uint64        `json:"output"`    // number of the table written, 0 if no document was left
	Documents      int64         `json:"documents"` // in it
	Bytes          int64         `json:"bytes"`
	Reason         Reason        `json:"reason"`
	Started        time.Time     `json:"started"`
	Duration       time.Duration `json:"duration_ns"` // so far, of one that is running
	Done           float64       `json:"done"`        // of one that is running, the share that is done
	Err            error         `json:"-"`           // why the merge failed; its tables are as they were
}
