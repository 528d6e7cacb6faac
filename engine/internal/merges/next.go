package merges

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/simdb/simdb/compaction"
)

// Next starts the merge in the background that is due. It returns nil if none is due or may start
// now. While the store is being closed, only small merges may start.
//
// A merge starts only when the database has been open for the expected duration of the merge. Close
// abandons merges, so this ensures that at most half of the time for which a database is open is
// lost. If there are many tables, any merge may start, but those that may start anyway come first:
// processes that are too short-lived for large merges at least finish smaller ones of the same
// tables.
func (g *Scheduler) Next(closing bool) (*Merge, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing.Load() != closing || g.all > 0 || !closing && g.Throttle.Paused() {
		return nil, nil
	}
	wanted := g.numWanted()
	tables, o, err := g.store.Policy()
	if err != nil {
		return nil, err
	}
	age := time.Since(g.opened)
	most := max(SmallWork, g.speed.within(age))
	free := g.store.Free()
	switch {
	case closing:
		most = SmallWork
	case g.large > 0:
		most = min(most, largeMerge)
	case g.store.Crowded():
		most = math.MaxInt64
	}
	var j *compaction.Job
	small := o
	small.MaxBytes = min(o.MaxBytes, max(SmallWork, g.speed.within(age)))
	held := time.Until(g.heldUntil)
	if held <= 0 {
		j = g.takeWanted(wanted, tables, o, func(bytes int64) bool { return bytes <= min(most, free) && g.schedule.MayStart(bytes) })
		if j == nil && most == math.MaxInt64 {
			j = g.schedule.Next(g.unreserved(tables), min(small.MaxBytes, free), small)
		}
		if j == nil {
			j = g.schedule.Next(g.unreserved(tables), min(most, free), o)
		}
	}
	if j == nil && held <= 0 && free < most { // its result may be much smaller
		if j = g.schedule.Next(g.unreserved(tables), most, o); j != nil && resultSize(j, tables, o) > free {
			held, j = spaceLook, nil
		}
	}
	if j == nil {
		if len(g.running) == 0 {
			g.idle.Store(true)
			g.signal()
		}
		if !closing {
			g.lookAgain(tables, o.TTL, most, age, held)
		}
		return nil, nil
	}
	return g.start(j, true), nil
}

// lookAgain wakes compaction when there may be something to do although no table has been added:
// when the database has been open for longer, when documents have expired, or when the time held is
// over for which merges were held back for lack of space. ttl is in microseconds, 0 for none. The
// caller holds mu.
func (g *Scheduler) lookAgain(tables []compaction.Table, ttl, most int64, age, held time.Duration) {
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
	if slices.ContainsFunc(tables, func(t compaction.Table) bool { return t.Expiring }) {
		in = min(in, longestLook)
	}
	if ttl > 0 && len(tables) > 0 {
		in = min(in, max(min(time.Duration(ttl)*time.Microsecond/ttlLooks, longestLook), shortestLook))
	}
	if g.later != nil {
		g.later.Stop()
	}
	if in < math.MaxInt64 {
		g.later = time.AfterFunc(in, g.store.WakeCompact)
	}
}

// How often compaction looks for expired documents: ttlLooks times in a time to live, but within
// limits.
const (
	ttlLooks     = 64
	shortestLook = time.Second
	longestLook  = 10 * time.Minute
)

// spaceLook is how often compaction checks for space while there is too little.
const spaceLook = 5 * time.Second

// TakeAll starts merges of all tables, one for each resulting table. It first waits for running
// merges: for large ones while small ones may still start, and then for all.
func (g *Scheduler) TakeAll(ctx context.Context) (started []*Merge, err error) {
	defer g.Throttle.Lift()()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.large++
	err = g.await(ctx, func() bool {
		return !slices.ContainsFunc(g.schedule.Running(), func(j *compaction.Job) bool { return j.Bytes > largeMerge })
	})
	g.large--
	if err != nil {
		return nil, err
	}
	g.all++
	defer func() { g.all-- }()
	if err := g.await(ctx, func() bool { return g.schedule.Free() }); err != nil {
		return nil, err
	}
	jobs, err := g.store.Groups()
	for _, j := range jobs {
		started = append(started, g.start(j, false))
	}
	return started, err
}

// TakeTable starts the repair of a table. It first waits for a merge that has the table.
func (g *Scheduler) TakeTable(ctx context.Context, number uint64, bytes int64) (m *Merge, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	err = g.await(ctx, func() bool {
		if g.all == 0 && !g.schedule.Taken(number) {
			m = g.start(&compaction.Job{Tables: []uint64{number}, Bytes: bytes, Reason: ReasonRepair}, false)
		}
		return m != nil
	})
	return m, err
}

// TakeDue starts the merge that is due. If it cannot start beside the running merges, TakeDue waits
// for them. It returns nil if no merge is due at all.
func (g *Scheduler) TakeDue(ctx context.Context) (m *Merge, err error) {
	defer g.Throttle.Lift()()
	g.mu.Lock()
	defer g.mu.Unlock()
	var failed error
	err = g.await(ctx, func() bool {
		if failed = g.store.Writable(); failed != nil {
			return true
		}
		if g.all > 0 {
			return false
		}
		wanted := g.numWanted()
		tables, o, err := g.store.Policy()
		if err != nil {
			failed = err
			return true
		}
		j := g.takeWanted(wanted, tables, o, func(int64) bool { return true })
		if j == nil {
			j = g.schedule.Due(g.unreserved(tables), o)
		}
		if j != nil {
			m = g.start(j, false)
			return true
		}
		return len(g.running) == 0
	})
	return m, cmp.Or(failed, err)
}

// Close lets running merges continue at full speed until Finish, and prevents others from starting,
// except small ones started by Next.
func (g *Scheduler) Close() {
	g.Throttle.Open()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.later != nil {
		g.later.Stop()
	}
	g.closing.Store(true)
	g.signal()
}

// Finish ends all merges after Close. It waits for merges in the background that are expected to
// end within limit, and cancels the others, also those that do not end within it. It always waits
// for merges that a caller waits for.
func (g *Scheduler) Finish(limit time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.running {
		if m.Background && m.remaining(&g.speed) > limit {
			m.cancel()
		}
	}
	late := time.AfterFunc(max(limit, 0), g.cancelAll)
	defer late.Stop()
	for len(g.running) > 0 {
		g.sleep(context.Background())
	}
}

// Pause stops new merges in the background and suspends running ones, until Resume.
func (g *Scheduler) Pause() {
	g.Throttle.Pause(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.signal() // wakes waiting writers
}

// Resume ends a Pause.
func (g *Scheduler) Resume() {
	g.Throttle.Pause(false)
	g.store.WakeCompact()
}
