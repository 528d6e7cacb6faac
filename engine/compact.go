package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/sstable"
)

// Compact flushes the memtables and merges all tables into one, dropping what is deleted, replaced or expired. It returns
// when that is done; reading and writing go on meanwhile. Progress, if not nil, is called from another goroutine.
func (db *DB) Compact(ctx context.Context, progress func(Progress)) error {
	if err := db.Flush(ctx); err != nil {
		return err
	}
	db.compactMu.Lock()
	defer db.compactMu.Unlock()
	v, err := db.acquire()
	if err != nil {
		return err
	}
	var all []uint64
	clean := true
	for _, p := range v.parts {
		all = append(all, p.meta.Number)
		clean = clean && p.dead.count() == 0 && p.meta.MinTime >= db.expiry()
	}
	v.unref()
	if len(all) == 0 || len(all) == 1 && clean {
		return nil
	}
	return db.compact(ctx, all, progress)
}

// smallWork is how many bytes are flushed before a database is open, or merged although it is being closed: that takes milliseconds, and
// a database that is opened for one write at a time has no other time for it.
const smallWork = 4 << 20

// CompactDue merges tables as compaction in the background does, and returns when nothing is left for it to do. At the end of a load
// it makes sure that the next search meets few tables, and that Close does not end a merge that is halfway. What Compact does is more:
// here a large table is merged with others only once they are as many and as large. Progress is as Compact's.
func (db *DB) CompactDue(ctx context.Context, progress func(Progress)) error {
	db.compactMu.Lock()
	defer db.compactMu.Unlock()
	for {
		if err := db.writable(); err != nil {
			return err
		}
		pick, _, err := db.pickCompaction()
		if err != nil || pick == nil {
			return err
		}
		if err := db.compact(ctx, pick, progress); err != nil {
			return err
		}
	}
}

// compactAuto merges what the policy picks until it picks nothing. A failure leaves the tables as they are and is tried again
// with the next flush; only a failed catalog poisons the writer. Once ctx has ended it goes on only with what is small.
func (db *DB) compactAuto(ctx context.Context) error {
	db.compactMu.Lock()
	defer db.compactMu.Unlock()
	for db.writable() == nil {
		pick, bytes, err := db.pickCompaction()
		if err != nil {
			return nil // closed
		}
		work := ctx
		if bytes <= smallWork {
			work = context.WithoutCancel(ctx)
		}
		if pick == nil || work.Err() != nil {
			return nil
		}
		if err := db.compact(work, pick, nil); err != nil {
			if work.Err() == nil {
				db.log.Error("compaction failed", "path", db.path, "tables", pick, "err", err)
				db.event(Event{Kind: "error", Tables: pick, Err: fmt.Errorf("compacting: %w", err)})
			}
			return nil
		}
	}
	return nil
}

// pickCompaction returns the numbers of the tables that are to be merged next, and their bytes; nil if none are.
func (db *DB) pickCompaction() (numbers []uint64, bytes int64, err error) {
	s, err := db.Snapshot()
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	tables := s.sizes()
	numbers = compaction.Pick(tables, compaction.Options{Expired: max(0, db.expiry())})
	for _, t := range tables {
		if slices.Contains(numbers, t.Number) {
			bytes += t.Size
		}
	}
	return numbers, bytes, nil
}

// sizes describes the tables to the compaction policy.
func (s *Snapshot) sizes() []compaction.Table {
	var ts []compaction.Table
	for i := range s.version.parts {
		p := &s.version.parts[i]
		t := compaction.Table{
			Number: p.meta.Number, Size: p.meta.Size, Docs: int64(p.meta.Docs), Dead: p.dead.count(), MaxTime: p.meta.MaxTime,
		}
		if s.since > s.dropBefore(p) {
			t.MaxTime = math.MaxInt64
		}
		ts = append(ts, t)
	}
	return ts
}

// dropBefore returns the time, in microseconds, before which a compaction drops documents of p: that of expiry, if all writes in
// the log are younger than those in p. A document of p may stand in the place of one that the log has. If it were dropped, a
// replay would bring that one back, and it may not have expired.
func (s *Snapshot) dropBefore(p *part) int64 {
	for _, m := range s.mems {
		if first := m.minSeq.Load(); first != 0 {
			if first < p.meta.MaxSeq {
				return math.MinInt64
			}
			break
		}
	}
	return s.since
}

// expiry returns the time, in microseconds, before which documents have expired.
func (db *DB) expiry() int64 {
	if db.ttl <= 0 {
		return math.MinInt64
	}
	return db.now().Add(-db.ttl).UnixMicro()
}

// acquire returns the current version with a reference to release by unref.
func (db *DB) acquire() (*version, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.current == nil || db.closed.Load() {
		return nil, ErrClosed
	}
	db.current.refs.Add(1)
	return db.current, nil
}

// compact merges the tables with these numbers into one and publishes it. The caller holds compactMu.
func (db *DB) compact(ctx context.Context, numbers []uint64, progress func(Progress)) error {
	start := time.Now()
	snap, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	var in []*part
	for i := range snap.version.parts {
		if p := &snap.version.parts[i]; slices.Contains(numbers, p.meta.Number) {
			in = append(in, p)
		}
	}
	var t *table
	var renumber [][]uint32
	err = snap.safely(ctx, func() error {
		t, renumber, err = db.mergeTables(ctx, snap, in, progress)
		return err
	})
	if err != nil {
		return err
	}
	// What a write has killed is gone for good once the merged table is published, so that write must be safe before.
	if err = db.syncLog(); err == nil {
		err = db.publishCompaction(snap.seq, in, t, renumber)
	}
	if err != nil {
		return errors.Join(db.fail(err), discard(t))
	}
	e := Event{Kind: "compact", Tables: numbers, Duration: time.Since(start)}
	if t != nil {
		e.Docs, e.Bytes = int(t.meta.Docs), t.meta.Size
	}
	db.metrics.compacted(e.Bytes)
	db.event(e)
	return nil
}

// mergeTables writes a new table of all documents of in that are visible in snap, nil if there is none.
func (db *DB) mergeTables(ctx context.Context, snap *Snapshot, in []*part, progress func(Progress)) (*table, [][]uint32, error) {
	inputs := make([]compaction.Input, len(in))
	readers := make([]*sstable.Reader, len(in))
	left := int64(0)
	for i, p := range in {
		readers[i] = p.Reader
		since := snap.dropBefore(p)
		inputs[i] = compaction.Input{
			Reader: p.Reader,
			Keep:   func(doc uint32) (bool, error) { return p.aliveAt(doc, snap.seq, since) },
			Seq:    p.shiftSeq,
		}
		if p.meta.MaxTime >= since {
			left += int64(p.meta.Docs) - p.dead.count()
		}
	}
	if left <= 0 { // all of it is dead or expired: nothing to read
		return nil, nil, nil
	}
	var renumber [][]uint32
	hot, err := sstable.MergedHot(readers...)
	if err != nil {
		return nil, nil, err
	}
	o := sstable.WriterOptions{Docs: int(left), Hot: hot}
	t, err := db.writeTable(o, func(w *sstable.Writer) (err error) {
		renumber, err = compaction.Merge(ctx, w, inputs, func(done, total int64) {
			if progress != nil {
				progress(Progress{Stage: "compact", Done: done, Total: total, Unit: "documents"})
			}
		})
		return err
	})
	return t, renumber, err
}

// publishCompaction puts t (nil for nothing) in the place of the tables in, merged as of seq. Documents that died since are
// dead in t too: for good if the catalog has it, until their log is flushed otherwise.
func (db *DB) publishCompaction(seq uint64, in []*part, t *table, renumber [][]uint32) error {
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	db.mu.Lock()
	v := db.current
	db.mu.Unlock()

	edit := catalog.Edit{}
	for _, p := range in {
		edit.DropTables = append(edit.DropTables, p.meta.Number)
	}
	base := roaring.New()
	if t != nil {
		for i, p := range in {
			// What was dead at seq was not written, so renumbering it gives Dropped.
			it := v.part(p.meta.Number).dead.base.Iterator()
			for it.HasNext() {
				if doc := renumber[i][it.Next()]; doc != compaction.Dropped {
					base.Add(doc)
				}
			}
		}
		edit.AddTables = []catalog.Table{t.meta}
		edit.SetTombstones = map[uint64]*roaring.Bitmap{t.meta.Number: base}
	}
	if err := db.apply(edit); err != nil {
		return err
	}

	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	var parts []part
	for _, p := range v.parts {
		if !slices.Contains(edit.DropTables, p.meta.Number) {
			parts = append(parts, p)
		} else {
			p.obsolete.Store(true)
		}
	}
	if t != nil {
		dead := newTombstones(base)
		for i, p := range in {
			_, younger := v.part(p.meta.Number).dead.upTo(seq)
			for doc, s := range younger {
				if doc := renumber[i][doc]; doc != compaction.Dropped {
					dead.kill(doc, s)
				}
			}
		}
		parts = append(parts, part{t, dead})
	}
	db.mu.Lock()
	old := db.install(parts)
	db.mu.Unlock()
	return old.unref()
}
