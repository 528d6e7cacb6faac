package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// Compact flushes the memtables and merges all tables into one, or into as few as hold the
// documents without cutting tables, dropping what is deleted, replaced or expired. It returns when
// that is done; reading and writing go on meanwhile. Progress, if not nil, is called from another
// goroutine.
func (db *Store) Compact(ctx context.Context, progress func(view.Progress)) error {
	if err := db.Flush(ctx); err != nil {
		return err
	}
	db.compactMu.Lock()
	defer db.compactMu.Unlock()
	groups, err := db.groupTables()
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := db.compact(ctx, g, true, progress); err != nil {
			return err
		}
	}
	return nil
}

// groupTables returns the numbers of all tables in groups to be merged into one table each, without
// tables that would be rewritten as they are: that have nothing dead, no texts of what was dead
// before, and are alone in their group.
func (db *Store) groupTables() ([][]uint64, error) {
	v, err := db.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	var groups [][]uint64
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
		groups = append(groups, g)
	}
	return groups, nil
}

// smallWork is how many bytes are flushed before a database is open, or merged although it is being
// closed: that takes milliseconds, and a database that is opened for one write at a time has no
// other time for it.
const smallWork = 4 << 20

// CompactDue merges tables as compaction in the background does, and returns when nothing is left
// for it to do. At the end of a load it makes sure that the next search meets few tables, and that
// Close does not end a merge that is halfway. What compactAll does is more: here a large table is
// merged with others only once they are as many and as large. Progress is as compactAll's.
func (db *Store) CompactDue(ctx context.Context, progress func(view.Progress)) error {
	db.compactMu.Lock()
	defer db.compactMu.Unlock()
	for {
		if err := db.Writable(); err != nil {
			return err
		}
		pick, err := db.pickCompaction()
		if err != nil || pick == nil {
			return err
		}
		if err := db.compact(ctx, pick.Tables, false, progress); err != nil {
			return err
		}
	}
}

// compactAuto merges what the policy picks until it picks nothing. A failure leaves the tables as
// they are and is tried again with the next flush; only a failed catalog poisons the writer. Once
// ctx has ended it goes on only with merges of at most smallWork bytes.
func (db *Store) compactAuto(ctx context.Context) error {
	db.compactPicked(func(bytes int64) (context.Context, bool) {
		if bytes <= smallWork {
			return context.WithoutCancel(ctx), true
		}
		return ctx, ctx.Err() == nil
	})
	return nil
}

// compactSmall is compactAuto that stops at the first merge of more than smallWork bytes.
func (db *Store) compactSmall() {
	db.compactPicked(func(bytes int64) (context.Context, bool) {
		return context.Background(), bytes <= smallWork
	})
}

// compactPicked merges what the policy picks until it picks nothing, or may says no: that gets the
// bytes to merge and returns the context to do it under.
func (db *Store) compactPicked(may func(bytes int64) (context.Context, bool)) {
	db.compactMu.Lock()
	defer db.compactMu.Unlock()
	for db.Writable() == nil {
		pick, err := db.pickCompaction()
		if err != nil || pick == nil { // closed, or nothing to do
			return
		}
		work, ok := may(pick.Bytes)
		if !ok {
			return
		}
		if err := db.compact(work, pick.Tables, false, nil); err != nil {
			if work.Err() == nil {
				db.log.Error("compaction failed", "path", db.Path, "tables", pick.Tables, "err", err)
				db.event(Event{Kind: EventError, Tables: pick.Tables, Err: fmt.Errorf("compacting: %w", err)})
			}
			return
		}
	}
}

// pickCompaction returns what is to be merged next; nil if nothing is.
func (db *Store) pickCompaction() (*compaction.Job, error) {
	v, err := db.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	tables, err := db.tableSizes(v)
	if err != nil {
		return nil, err
	}
	return compaction.Pick(tables, compaction.Options{
		Expired: max(0, db.expiry()), TTL: db.TTL.Microseconds(), MaxDocs: db.MaxDocs(),
	}), nil
}

// tableSizes describes the tables to the compaction policy.
func (db *Store) tableSizes(v *view.View) ([]compaction.Table, error) {
	var ts []compaction.Table
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		t := compaction.Table{
			Number: p.Meta.Number, Size: p.Meta.Size, Docs: int64(p.Meta.Docs), Dead: p.Dead.Count(),
			MinTime: p.Meta.MinTime, MaxTime: p.Meta.MaxTime, Held: v.Since > dropBefore(v, p),
		}
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

// compact merges the tables with these numbers into one and publishes it. The caller holds
// compactMu.
func (db *Store) compact(ctx context.Context, numbers []uint64, erase bool, progress func(view.Progress)) error {
	start := time.Now()
	snap, err := db.View()
	if err != nil {
		return err
	}
	defer snap.Close()
	var in []*view.Part
	for i := range snap.Version.Parts {
		if p := &snap.Version.Parts[i]; slices.Contains(numbers, p.Meta.Number) {
			in = append(in, p)
		}
	}
	var t *view.Table
	var renumber *sstable.Renumbering
	err = snap.Safely(ctx, func() error {
		t, renumber, err = db.mergeTables(ctx, snap, in, erase, progress)
		return err
	})
	if err != nil {
		return err
	}
	// What a write has killed is gone for good once the merged table is published, so that write
	// must be safe before.
	if err = db.syncLog(); err == nil {
		err = db.publishCompaction(snap.Seq, in, t, renumber)
	}
	if err != nil {
		return errors.Join(db.fail(err), discard(t))
	}
	e := Event{Kind: EventCompact, Tables: numbers, Duration: time.Since(start)}
	if t != nil {
		e.Docs, e.Bytes = int(t.Meta.Docs), t.Meta.Size
	}
	db.metrics.compacted(e.Bytes)
	db.event(e)
	return nil
}

// mergeTables writes a new table of all documents of in that are visible in snap, nil if there is
// none.
func (db *Store) mergeTables(ctx context.Context, snap *view.View, in []*view.Part, erase bool, progress func(view.Progress)) (*view.Table, *sstable.Renumbering, error) {
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
		o := mergeOptions("compact", progress)
		o.Identity, o.Erase = identity, erase
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
