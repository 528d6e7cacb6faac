package merges

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// A Store is the store whose tables are merged. The Scheduler holds its lock while it calls these
// methods.
type Store interface {
	Writable() error                                         // returns nil, or the reason why nothing can be written
	Policy() ([]compaction.Table, compaction.Options, error) // with MaxBytes
	Groups() ([]*compaction.Job, error)                      // merges of all tables, each with as many as fit into one table
	Free() int64                                             // bytes on disk that merges in the background may use
	Crowded() bool                                           // whether the number of tables slows writers
	WakeCompact()                                            // causes a call of Next soon
}

// The reasons of merges that the policy does not pick.
const (
	ReasonLoad compaction.Reason = "load" // a load has written the tables
	ReasonAll  compaction.Reason = "all"  // the caller merges all tables

	ReasonRepair compaction.Reason = "repair" // the table is damaged
)

// A Scheduler starts and tracks merges. All merges, in the background or for callers that wait, are
// in one schedule, so no two share a table.
type Scheduler struct {
	Throttle *Throttle // for the output of merges

	store  Store
	opened time.Time
	loads  loads

	mu       sync.Mutex // locked before all locks of the store
	schedule Schedule
	running  map[*compaction.Job]*Merge
	past     []Stats       // the merges that ended most recently, oldest first
	changed  chan struct{} // closed, and replaced, when a merge ends or one may start
	large    int           // calls of TakeAll that wait for large merges: no large merge may start
	all      int           // calls of TakeAll that wait for all merges: none may start
	later    *time.Timer   // wakes compaction; nil if unset
	speed    speed

	hold      time.Duration // how long merges were last postponed; 0 after a merge has succeeded
	heldUntil time.Time     // no merge in the background starts before this time

	closing atomic.Bool  // the store is being closed; set under mu
	failing atomic.Bool  // the last merge failed, but not because of a damaged table
	idle    atomic.Bool  // compaction has found nothing to start, and no merge is running
	table   atomic.Int64 // speed.table, in nanoseconds
}

// A Merge is a running merge.
type Merge struct {
	*compaction.Job
	Background bool            // no caller waits for it
	Ctx        context.Context // for merges in the background, else nil
	cancel     context.CancelFunc

	started     time.Time
	gaveWay     bool                    // guarded by mu, like giveUp
	giveUp      context.CancelCauseFunc // cancels the merge; nil until it runs
	done, total atomic.Int64            // numbers of documents
	waited      atomic.Int64            // nanoseconds spent waiting because of the rate or a pause
}

// loads has the requests of loads for the tables that they write. The policy ignores the tables of
// a load in progress, so that each is merged once, together with the others.
type loads struct {
	mu       sync.Mutex      // locked after the mutex of the Scheduler
	reserved map[uint64]bool // tables
	wanted   [][]uint64      // sets of reserved tables, each to be merged into one table
}

// release is Release for callers that hold the lock.
func (l *loads) release(tables []uint64) {
	for _, t := range tables {
		delete(l.reserved, t)
	}
}

// NewScheduler returns the scheduler of a store that has just been opened. slots is how many merges
// of any size may run at a time, 0 for the default. rate limits the bytes per second that they
// write, 0 for no limit.
func NewScheduler(store Store, slots int, rate int64) *Scheduler {
	g := &Scheduler{
		Throttle: NewThrottle(rate), store: store, opened: time.Now(), running: map[*compaction.Job]*Merge{}, changed: make(chan struct{}),
	}
	g.schedule.Slots = slots
	if slots == 0 { // each merge uses half of the processors, see Merge.Workers
		g.schedule.Slots = halfOfProcessors()
	}
	g.idle.Store(true)
	g.table.Store(int64(firstTable))
	return g
}

func halfOfProcessors() int { return max(runtime.GOMAXPROCS(0)/2, 1) }

// remaining estimates how long the merge will last at full speed: from its size, until a twentieth
// is done.
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

// Progress records how many documents the merge has processed.
func (m *Merge) Progress(done, total int64) {
	m.total.Store(total)
	m.done.Store(done)
}

// Cancel releases the resources of a merge in the background, and cancels it if it is running.
func (m *Merge) Cancel() { m.cancel() }

// Writer returns a writer to out that limits the rate of merge m.
func (g *Scheduler) Writer(ctx context.Context, out io.Writer, m *Merge) io.Writer {
	return pacedWriter{
		Ctx: ctx, Out: out, Throttle: g.Throttle, Background: m.Background,
		Waited: func(d time.Duration) { m.waited.Add(int64(d)) },
	}
}

// signal wakes all waiting goroutines. The caller holds mu.
func (g *Scheduler) signal() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// start records that a job has started. The caller holds mu.
func (g *Scheduler) start(j *compaction.Job, background bool) *Merge {
	m := &Merge{Job: j, started: time.Now(), Background: background}
	if background {
		m.Ctx, m.cancel = context.WithCancel(context.Background())
	}
	g.schedule.Start(j)
	g.running[j] = m
	return m
}

// Take excludes a table from merges until giveBack is called. It returns false if a merge has the
// table.
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

// End records that a merge has ended. did is its result, nil if it was given up before it began.
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
		if vfs.IsNoSpace(did.Err) && !m.gaveWay {
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

// pastMerges is how many ended merges are remembered.
const pastMerges = 16

// sleep waits until something has changed, or until ctx ends. The caller holds mu.
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

// postpone prevents merges in the background from starting for a while, longer each time until one
// succeeds. The caller holds mu.
func (g *Scheduler) postpone() {
	g.hold = min(max(2*g.hold, shortestHold), longestHold)
	g.heldUntil = time.Now().Add(g.hold)
}

// How long no merge in the background starts after a merge has given way, or run out of space.
const (
	shortestHold = time.Second
	longestHold  = time.Minute
)

// ErrClosing is returned by functions that wait for a merge when the store is being closed.
var ErrClosing = errors.New("the store is being closed")

// await waits until ready returns true. It returns the error of the context, or ErrClosing once the
// store is being closed. The caller holds mu, which is also held when ready is called.
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

// WaitWhile waits as long as holds returns true. It calls holds whenever a merge has ended or may
// start. It returns the error of the context.
func (g *Scheduler) WaitWhile(ctx context.Context, holds func() bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := ctx.Err()
	for err == nil && holds() {
		err = g.sleep(ctx)
	}
	return err
}

// Unfinished reports whether merges may still reduce the number of tables: one is running or will
// start, and the last one did not fail.
func (g *Scheduler) Unfinished() bool {
	return !g.idle.Load() && !g.failing.Load() && !g.closing.Load() && !g.Throttle.Paused()
}

// cancelAll cancels the merges in the background.
func (g *Scheduler) cancelAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.running {
		if m.Background {
			m.cancel()
		}
	}
}

// Running returns the running merges.
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

// Past returns the merges that ended most recently, oldest first.
func (g *Scheduler) Past() []Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.past
}

// Idle reports whether compaction in the background has nothing to do.
func (g *Scheduler) Idle() bool { return g.idle.Load() }

// Busy records that compaction may have something to do.
func (g *Scheduler) Busy() { g.idle.Store(false) }

// Closing reports whether only small merges may start.
func (g *Scheduler) Closing() bool { return g.closing.Load() }

// TableTime returns the recent average duration of merging per table saved.
func (g *Scheduler) TableTime() time.Duration { return time.Duration(g.table.Load()) }

// Stats describes a merge that has ended, or is running.
type Stats struct {
	Inputs         []uint64          `json:"inputs"` // numbers of the tables
	InputDocuments int64             `json:"input_documents"`
	InputBytes     int64             `json:"input_bytes"`
	Output         uint64            `json:"output"`    // of the resulting table, or the last of several; 0 if it is empty
	Documents      int64             `json:"documents"` // in the result
	Bytes          int64             `json:"bytes"`
	Reason         compaction.Reason `json:"reason"`
	Started        time.Time         `json:"started"`
	Duration       time.Duration     `json:"duration_ns"` // so far, if it is running
	Done           float64           `json:"done"`        // if it is running, the share that is done
	Err            error             `json:"-"`           // why the merge failed; tables are unchanged
}
