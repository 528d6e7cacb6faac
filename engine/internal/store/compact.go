package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/throttle"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// Compact flushes the memtables and merges all tables into one, or into as few as hold the
// documents without cutting tables, dropping what is deleted, replaced or expired. It returns when
// that is done; reading and writing go on meanwhile. If these find the disk full, it gives way and
// fails. Progress, if not nil, is called from another goroutine.
func (db *Store) Compact(ctx context.Context, progress func(view.Progress)) error {
	if err := db.Flush(ctx); err != nil {
		return err
	}
	defer db.WakeCompact()
	merges, err := db.takeAll(ctx)
	for i, m := range merges {
		if err == nil {
			err = db.merge(ctx, m, true, progress)
		} else {
			db.merges.end(merges[i], nil)
		}
	}
	return err
}

// takeAll starts merges of all tables, one for each table that is to be made. It waits for those
// that run: first for large ones, beside which small ones go on.
func (db *Store) takeAll(ctx context.Context) (started []*merge, err error) {
	g := &db.merges
	defer g.throttle.Lift()()
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
	jobs, err := db.groupTables()
	for _, j := range jobs {
		started = append(started, g.start(j, false))
	}
	return started, err
}

// groupTables returns all tables in groups to be merged into one table each, without tables that
// would be rewritten as they are: that have nothing dead, no texts of what was dead before, and are
// alone in their group.
func (db *Store) groupTables() (jobs []*compaction.Job, err error) {
	v, err := db.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	tables, err := db.tableSizes(v)
	if err != nil {
		return nil, err
	}
	for _, g := range compaction.Group(tables, db.MaxDocs()) {
		p := v.Version.Part(g[0])
		if len(g) == 1 && p.Dead.Count() == 0 && p.Meta.MinTime >= v.Since {
			if dead, err := p.HasDeadRecords(); err != nil {
				return nil, err
			} else if !dead {
				continue
			}
		}
		j := &compaction.Job{Tables: g, Reason: compaction.ReasonAll}
		for _, number := range g {
			j.Bytes += v.Version.Part(number).Meta.Size
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// CompactDue merges tables as compaction in the background does, and returns when nothing is left
// for it to do. At the end of a load it makes sure that the next search meets few tables. What
// Compact does is more: here a large table is merged with others only once they are as many and as
// large. Progress is as Compact's.
func (db *Store) CompactDue(ctx context.Context, progress func(view.Progress)) error {
	defer db.WakeCompact()
	for {
		m, err := db.takeDue(ctx)
		if err != nil || m == nil {
			return err
		}
		if err := db.merge(ctx, m, false, progress); err != nil {
			return err
		}
	}
}

// takeDue starts the merge that is due; it waits for those that run if there is none beside them,
// and returns nil if there is none at all.
func (db *Store) takeDue(ctx context.Context) (m *merge, err error) {
	g := &db.merges
	defer g.throttle.Lift()()
	g.mu.Lock()
	defer g.mu.Unlock()
	var failed error
	err = g.await(ctx, func() bool {
		if failed = db.Writable(); failed != nil {
			return true
		}
		if g.all > 0 {
			return false
		}
		tables, o, err := db.policy()
		if err != nil {
			failed = err
			return true
		}
		j := db.takeWanted(tables, func(int64) bool { return true })
		if j == nil {
			j = g.schedule.Due(db.unreserved(tables), o)
		}
		if j != nil {
			m = g.start(j, false)
			return true
		}
		return len(g.running) == 0
	})
	return m, cmp.Or(failed, err)
}

// compactSmall does merges of at most smallWork bytes, as long as these are due.
func (db *Store) compactSmall() {
	for db.Writable() == nil {
		m, err := db.nextMerge(true)
		if err != nil || m == nil || !db.mergeAuto(m) {
			return
		}
	}
}

// policy returns what the policy is asked with: the tables, and its options.
func (db *Store) policy() ([]compaction.Table, compaction.Options, error) {
	o := db.opts.Policy
	o.Expired, o.TTL, o.MaxDocs = max(0, db.expiry()), db.TTL.Microseconds(), db.MaxDocs()
	v, err := db.View()
	if err != nil {
		return nil, o, err
	}
	defer v.Close()
	tables, err := db.tableSizes(v)
	return tables, o, err
}

// tableSizes describes the tables to the compaction policy.
func (db *Store) tableSizes(v *view.View) ([]compaction.Table, error) {
	var ts []compaction.Table
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		t := tableOf(p)
		t.Held = v.Since > dropBefore(v, p)
		if db.TTL > 0 {
			var err error
			if t.Times, err = p.TimeSketch(); err != nil {
				return nil, err
			}
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// tableOf describes a table, but for its quantiles of times, and whether it is held.
func tableOf(p *view.Part) compaction.Table {
	return compaction.Table{
		Number: p.Meta.Number, Size: p.Meta.Size, Docs: int64(p.Meta.Docs), Dead: p.Dead.Count(),
		MinTime: p.Meta.MinTime, MaxTime: p.Meta.MaxTime,
	}
}

// dropBefore returns the time, in microseconds, before which a compaction drops documents of p:
// that of expiry, if all writes in the log are younger than those in p. A document of p may stand
// in the place of one that the log has. If it were dropped, a replay would bring that one back, and
// it may not have expired.
func dropBefore(v *view.View, p *view.Part) int64 {
	for _, m := range v.Mems {
		if first := m.MinSeq.Load(); first != 0 {
			if first < p.Meta.MaxSeq {
				return math.MinInt64
			}
			break
		}
	}
	return v.Since
}

// merge does a merge that was started, publishes its result and ends it. Erase leaves no text of
// what it drops.
func (db *Store) merge(ctx context.Context, m *merge, erase bool, progress func(view.Progress)) error {
	did := MergeStats{Inputs: m.Tables, InputBytes: m.Bytes, Reason: string(m.Reason), Started: time.Now()}
	running, done := db.merges.run(ctx, m)
	defer done()
	t, err := db.mergeAndPublish(running, m, erase, &did, progress)
	err = why(running, err)
	did.Duration, did.Err = time.Since(did.Started), err
	if t != nil && err == nil {
		did.Output, did.Bytes, did.Documents = t.Meta.Number, t.Meta.Size, int64(t.Meta.Docs)
	}
	if err == nil {
		db.metrics.compacted(&did)
	}
	db.merges.end(m, &did)
	if err == nil {
		db.event(Event{
			Kind: EventCompact, Tables: m.Tables, Output: did.Output, Reason: did.Reason, Docs: int(did.Documents),
			InputBytes: m.Bytes, Bytes: did.Bytes, Duration: did.Duration,
		})
	}
	return err
}

// mergeAndPublish puts a table of the documents of a merge's tables, nil if there are none, in
// their place.
func (db *Store) mergeAndPublish(ctx context.Context, m *merge, erase bool, did *MergeStats, progress func(view.Progress)) (t *view.Table, err error) {
	snap, err := db.View()
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	var in []*view.Part
	for i := range snap.Version.Parts {
		if p := &snap.Version.Parts[i]; slices.Contains(m.Tables, p.Meta.Number) {
			in = append(in, p)
			did.InputDocuments += int64(p.Meta.Docs)
		}
	}
	var renumber *sstable.Renumbering
	err = snap.Safely(ctx, func() error {
		t, renumber, err = db.mergeTables(ctx, m, snap, in, erase, progress)
		return err
	})
	if err != nil {
		return nil, err
	}
	// What a write has killed is gone for good once the merged table is published, so that write
	// must be safe before.
	if err = db.syncLog(); err == nil {
		err = db.publishCompaction(snap.Seq, in, t, renumber)
	}
	if err != nil {
		return nil, errors.Join(db.fail(err), discard(t, err))
	}
	return t, nil
}

// mergeTables writes a new table of all documents of in that are visible in snap, nil if there is
// none.
func (db *Store) mergeTables(ctx context.Context, m *merge, snap *view.View, in []*view.Part, erase bool, progress func(view.Progress)) (*view.Table, *sstable.Renumbering, error) {
	inputs := make([]compaction.Input, len(in))
	left := int64(0)
	for i, p := range in {
		since := dropBefore(snap, p)
		inputs[i] = compaction.Input{Reader: p.Reader, SeqShift: p.Shift}
		dead := p.Dead.Count()
		if dead > 0 || p.Meta.MinTime < since {
			inputs[i].Keep = func(doc uint32) (bool, error) { return p.AliveAt(doc, snap.Seq, since) }
		}
		if p.Meta.MaxTime >= since {
			left += int64(p.Meta.Docs) - dead
		}
	}
	if left <= 0 { // all of it is dead or expired: nothing to read
		return nil, nil, nil
	}
	var renumber *sstable.Renumbering
	t, err := db.newTable(func(out io.Writer, identity sstable.Identity) (info sstable.Info, err error) {
		o := mergeOptions("compact", func(p view.Progress) {
			m.done.Store(p.Done)
			m.total.Store(p.Total)
			if progress != nil {
				progress(p)
			}
		})
		o.Identity, o.Erase = identity, erase
		if m.background {
			o.Workers = max(runtime.GOMAXPROCS(0)/2, 1)
		}
		out = throttle.Writer{
			Ctx: ctx, Out: out, Throttle: db.merges.throttle, Background: m.background,
			Waited: func(d time.Duration) { m.waited.Add(int64(d)) },
		}
		info, renumber, err = compaction.Merge(ctx, out, db.mergeParams(left), inputs, o)
		return info, err
	})
	return t, renumber, err
}

// mergeOptions are the options of a merge that reports as a stage of its name.
func mergeOptions(stage string, progress func(view.Progress)) sstable.MergeOptions {
	return sstable.MergeOptions{Progress: func(done, total int64) {
		if progress != nil {
			progress(view.Progress{Stage: stage, Done: done, Total: total, Unit: "documents"})
		}
	}}
}

// publishCompaction puts t (nil for nothing) in the place of the tables in, merged as of seq.
// Documents that died since are dead in t too: for good if the catalog has it, until their log is
// flushed otherwise.
func (db *Store) publishCompaction(seq uint64, in []*view.Part, t *view.Table, renumber *sstable.Renumbering) error {
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	db.mu.Lock()
	v := db.current
	db.mu.Unlock()

	edit := catalog.Edit{}
	for _, p := range in {
		edit.DropTables = append(edit.DropTables, p.Meta.Number)
	}
	base := roaring.New()
	if t != nil {
		for i, p := range in {
			// What was dead at seq was not written, and has no new number.
			it := v.Part(p.Meta.Number).Dead.Base.Iterator()
			for it.HasNext() {
				if doc, kept := renumber.New(i, it.Next()); kept {
					base.Add(doc)
				}
			}
		}
		edit.AddTables = []catalog.Table{t.Meta}
		edit.SetTombstones = map[uint64]*roaring.Bitmap{t.Meta.Number: base}
	}
	if err := db.editCatalog(edit); err != nil {
		return err
	}

	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	var parts []view.Part
	for _, p := range v.Parts {
		if !slices.Contains(edit.DropTables, p.Meta.Number) {
			parts = append(parts, p)
		} else {
			p.Obsolete.Store(true)
		}
	}
	if t != nil {
		dead := view.NewTombstones(base)
		for i, p := range in {
			_, younger := v.Part(p.Meta.Number).Dead.UpTo(seq)
			for doc, s := range younger {
				if doc, kept := renumber.New(i, doc); kept {
					dead.Kill(doc, s)
				}
			}
		}
		parts = append(parts, view.Part{Table: t, Dead: dead})
	}
	db.mu.Lock()
	old := db.install(parts)
	db.mu.Unlock()
	return old.Unref()
}
