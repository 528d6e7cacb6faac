package store

import (
	"context"
	"math"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// Prune deletes every document stored before t that is visible when it begins, and returns how many
// there were. A document that is stored again while it runs stays. What it has deleted is durable
// table by table, and in steps within a large table: after an error, or a cancellation, the rest is
// left to the next call. Progress, if not nil, counts the documents of the tables that it has been
// through.
//
// No document is read. A table whose bounds say that it has nothing so old costs nothing. One that
// has nothing younger is dropped. Of others the column of times is scanned, and tombstones go into
// the catalog: there is no write for each document, and nothing in the log.
func (db *Store) Prune(ctx context.Context, t time.Time, progress func(view.Progress)) (int, error) {
	if err := db.Writable(); err != nil {
		return 0, err
	}
	before := view.Micros(t)
	if before == math.MinInt64 {
		return 0, nil
	}
	last := before - 1
	if t.After(time.UnixMicro(before)) { // out of the range of times
		last = before
	}
	v, err := db.View()
	if err != nil {
		return 0, err
	}
	w := sstable.Written{From: v.Since, To: last, MaxSeq: v.Seq}
	p := &prune{db: db, written: w, done: map[uint64]bool{}, report: progress}
	err = p.memtables(ctx, v)
	v.Close()
	for more := true; more && err == nil; {
		more, err = p.tables(ctx)
	}
	if p.deleted > 0 {
		db.WakeCompact()
	}
	return p.deleted, err
}

// A prune is a run of Prune.
type prune struct {
	db      *Store
	written sstable.Written // what is to be deleted, by the sequence numbers of the database
	done    map[uint64]bool // tables that have been looked at
	deleted int

	report       func(view.Progress)
	passed, docs int64 // documents that have been passed, and are in the tables
}

// pruneBatch is how many documents of memtables are deleted by one write.
const pruneBatch = 1000

// memtables deletes the documents that are in memtables of v, wherever they are by now.
func (p *prune) memtables(ctx context.Context, v *view.View) error {
	var ops []Operation
	write := func() error {
		n, err := p.db.Write(ctx, ops)
		p.deleted += n
		ops = ops[:0]
		return err
	}
	err := v.EachMem(func(at view.Place) error {
		if at.Mem.Time > p.written.To {
			return nil
		}
		if ops = append(ops, DeleteVersion(string(at.Mem.ID), at.Mem.Seq)); len(ops) < pruneBatch {
			return nil
		}
		return write()
	})
	if err != nil {
		return err
	}
	return write()
}

// tables deletes from the tables of the database that have not been looked at, and reports whether
// there were any. A compaction may have made more meanwhile, of tables that were merged before
// their turn came.
func (p *prune) tables(ctx context.Context) (more bool, err error) {
	v, err := p.db.View()
	if err != nil {
		return false, err
	}
	defer v.Close()
	var todo []*view.Part
	for i := range v.Version.Parts {
		part := &v.Version.Parts[i]
		if w := &p.written; !p.done[part.Meta.Number] && part.Meta.MinTime <= w.To && part.Meta.MaxTime >= w.From && part.Meta.MinSeq <= w.MaxSeq {
			todo = append(todo, part)
			p.docs += int64(part.Meta.Docs)
		}
		p.done[part.Meta.Number] = true
	}
	for _, part := range todo {
		if err := v.Safely(ctx, func() error { return p.table(ctx, part) }); err != nil {
			return false, err
		}
	}
	return len(todo) > 0, nil
}

// pruneSpan is the range of document numbers in which documents are collected before they are
// deleted at once: at most 2 MiB of bitmap.
const pruneSpan = 1 << 24

// table deletes from a table.
func (p *prune) table(ctx context.Context, part *view.Part) error {
	passed := p.passed
	if part.Meta.MaxTime <= p.written.To && part.Meta.MaxSeq <= p.written.MaxSeq {
		dropped, err := p.drop(ctx, part)
		if dropped || err != nil {
			p.pass(passed + int64(part.Meta.Docs))
			return err
		}
	}
	kill, span := roaring.New(), uint32(0)
	err := part.EachWritten(ctx, p.inFile(part), func(docs []uint32) error {
		if at := docs[0] / pruneSpan; at != span {
			if err := p.kill(ctx, part, kill); err != nil {
				return err
			}
			kill, span = roaring.New(), at
			p.pass(passed + int64(docs[0]))
		}
		kill.AddMany(docs)
		return nil
	})
	if err == nil {
		err = p.kill(ctx, part, kill)
	}
	p.pass(passed + int64(part.Meta.Docs))
	return err
}

// pass reports that n documents have been passed.
func (p *prune) pass(n int64) {
	if p.passed = n; p.report != nil {
		p.report(view.Progress{Stage: "prune", Done: n, Total: max(n, p.docs), Unit: "documents"})
	}
}

// inFile returns what is to be deleted, by the sequence numbers in the table's file, of which the
// least is at most MaxSeq.
func (p *prune) inFile(part *view.Part) sstable.Written {
	w := p.written
	w.MaxSeq = min(w.MaxSeq, part.Meta.MaxSeq) - part.Shift
	return w
}

// lock takes the locks under which a table loses documents without a write in the log, and returns
// the table as it is now. It is nil, and no lock is held, if a compaction has merged the table
// meanwhile. The caller releases what release releases.
//
// The log must have no write that is older than the table: a document of the table may stand in the
// place of one that the log has, and without it a replay would bring that one back. After a flush
// all writes in the log are younger than tables that were there before. What a write in the log has
// killed is gone for good with its table, so that write must be safe before.
func (p *prune) lock(ctx context.Context, part *view.Part) (now *view.Part, release func(), err error) {
	db := p.db
	for {
		db.publishMu.Lock()
		db.writeMu.Lock()
		release = func() { db.writeMu.Unlock(); db.publishMu.Unlock() }
		if err = db.Writable(); err == nil {
			db.mu.Lock()
			now = db.current.Part(part.Meta.Number)
			younger := follows(db.active, part)
			for _, m := range db.immutable {
				younger = younger && follows(m, part)
			}
			db.mu.Unlock()
			if now != nil && younger {
				if err = db.syncLogLocked(); err == nil {
					return now, release, nil
				}
				err = db.fail(err)
			}
		}
		release()
		if err == nil && now != nil {
			err = db.Flush(ctx)
		}
		if err != nil || now == nil {
			return nil, nil, err
		}
	}
}

// follows reports whether all writes in the log of m are younger than the documents of a table.
func follows(m *view.Memtable, part *view.Part) bool {
	first := m.MinSeq.Load()
	return first == 0 || first > part.Meta.MaxSeq
}

// kill makes documents of a table dead, those that still live. If nothing else is left of the
// table, it is dropped.
func (p *prune) kill(ctx context.Context, part *view.Part, docs *roaring.Bitmap) error {
	if docs.IsEmpty() {
		return nil
	}
	giveBack, free := p.db.merges.take(part.Meta.Number)
	if free {
		defer giveBack()
	}
	now, release, err := p.lock(ctx, part)
	if now == nil {
		return err
	}
	defer release()
	dead, _ := now.Dead.UpTo(view.Latest)
	docs.AndNot(dead)
	n := docs.GetCardinality()
	if n == 0 {
		return nil
	}
	if free && dead.GetCardinality()+n == uint64(now.Meta.Docs) {
		return p.publish(now, nil, int(n))
	}
	docs.Or(now.Dead.Base)
	docs.RunOptimize()
	return p.publish(now, docs, int(n))
}

// drop drops a table that has only documents to be deleted, and expired ones. It reports false if
// it can't be dropped: a merge may be reading it, whose result will be published in its place.
func (p *prune) drop(ctx context.Context, part *view.Part) (bool, error) {
	giveBack, free := p.db.merges.take(part.Meta.Number)
	if !free {
		return false, nil
	}
	defer giveBack()
	dead, _ := part.Dead.UpTo(view.Latest)
	n, err := part.CountLiving(ctx, dead, p.inFile(part))
	if err != nil {
		return false, err
	}
	now, release, err := p.lock(ctx, part)
	if now == nil {
		return err == nil, err // without an error the table is there no more
	}
	defer release()
	later, _ := now.Dead.UpTo(view.Latest)
	for it := roaring.AndNot(later, dead).Iterator(); it.HasNext(); {
		if t, err := now.Time(it.Next()); err != nil {
			return false, err
		} else if t >= p.written.From {
			n--
		}
	}
	return true, p.publish(now, nil, int(n))
}

// publish gives a table tombstones, as the catalog is to have them, or drops it if they are nil. n
// is how many documents that deletes. The caller holds the locks of lock.
func (p *prune) publish(now *view.Part, dead *roaring.Bitmap, n int) error {
	db, number := p.db, now.Meta.Number
	edit := catalog.Edit{SetTombstones: map[uint64]*roaring.Bitmap{number: dead}}
	if dead == nil {
		edit = catalog.Edit{DropTables: []uint64{number}}
	}
	if err := db.editCatalog(edit); err != nil {
		return db.fail(err)
	}
	p.deleted += n
	db.metrics.deletes.Add(int64(n))
	db.mu.Lock()
	var parts []view.Part
	for _, at := range db.current.Parts {
		if at.Meta.Number == number {
			if dead == nil {
				at.Obsolete.Store(true)
				continue
			}
			at.Dead = at.Dead.Onto(dead, 0)
		}
		parts = append(parts, at)
	}
	old := db.install(parts)
	db.mu.Unlock()
	return old.Unref()
}
