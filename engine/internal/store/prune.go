package store

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// Prune deletes every document stored before t that is visible when Prune begins, and returns their
// number. A document that is stored again meanwhile stays. All deletes are one transaction of the
// catalog: after an error, a cancellation or a kill, nothing has been deleted. Progress, if not
// nil, counts the documents of the tables that have been processed.
//
// Prune reads no document. A table whose bounds exclude documents older than t costs nothing. A
// table without younger documents is dropped. In other tables Prune scans the column of times, and
// adds tombstones to the catalog, at most one bit for each document of the table; it does not write
// a record for each document, and nothing to the log. Memtables with documents older than t are
// flushed first.
func (db *Store) Prune(ctx context.Context, t time.Time, progress func(view.Progress)) (int, error) {
	if err := db.Writable(); err != nil {
		return 0, err
	}
	before := view.Micros(t)
	if before == math.MinInt64 {
		return 0, nil
	}
	last := before - 1
	if t.After(time.UnixMicro(before)) { // beyond the range of times
		last = before
	}
	v, err := db.View()
	if err != nil {
		return 0, err
	}
	w := table.Written{From: v.Since, To: last, Now: v.Now, MaxSeq: v.Seq}
	p := &prune{db: db, written: w, found: map[uint64]*prunedTable{}, report: progress}
	flush, err := p.inMemtables(v)
	v.Close()
	if err == nil && flush {
		err = db.Flush(ctx)
	}
	for more := true; more && err == nil; {
		if err = p.scan(ctx); err == nil {
			more, err = p.publish(ctx)
		}
	}
	if err != nil {
		return 0, err
	}
	if p.deleted > 0 {
		db.WakeCompact()
	}
	return p.deleted, nil
}

type prune struct {
	db      *Store
	written table.Written           // the documents to delete, by sequence numbers of the database
	found   map[uint64]*prunedTable // results of scan by table; nil if a table has nothing to delete
	deleted int

	report       func(view.Progress)
	passed, docs int64 // documents processed; documents in the tables
}

// A prunedTable is a table with documents to delete.
type prunedTable struct {
	whole bool            // all documents are to be deleted, or have expired
	kill  *roaring.Bitmap // otherwise, the documents to delete
	dead  *roaring.Bitmap // if whole: rows that were not documents when count was computed
	count int64           // if whole: the other documents that had not expired
}

// inMemtables reports whether memtables of v have documents to delete.
func (p *prune) inMemtables(v *view.View) (found bool, err error) {
	err = v.EachMem(func(at view.Place) error {
		found = found || at.Mem.Time <= p.written.To
		return nil
	})
	return found, err
}

// concerns reports whether the bounds of a table allow documents to delete.
func (p *prune) concerns(part *view.Part) bool {
	w, m := &p.written, &part.Meta
	return m.MinTime <= w.To && m.MaxTime >= w.From && m.MinSeq <= w.MaxSeq
}

// scan looks for documents to delete in the tables that were not scanned yet. A compaction may have
// added tables since the last scan.
func (p *prune) scan(ctx context.Context) error {
	v, err := p.db.View()
	if err != nil {
		return err
	}
	defer v.Close()
	var todo []*view.Part
	for i := range v.Version.Parts {
		part := &v.Version.Parts[i]
		if _, done := p.found[part.Meta.Number]; !done && p.concerns(part) {
			todo = append(todo, part)
			p.docs += int64(part.Meta.Docs)
		}
	}
	for _, part := range todo {
		passed := p.passed
		if err := v.Safely(ctx, func() error { return p.table(ctx, part) }); err != nil {
			return err
		}
		p.pass(passed + int64(part.Meta.Docs))
	}
	return nil
}

// passStep is the number of documents of a table between reports of progress.
const passStep = 1 << 24

// table looks for documents to delete in one table.
func (p *prune) table(ctx context.Context, part *view.Part) error {
	if part.Meta.MaxTime <= p.written.To && part.Meta.MaxSeq <= p.written.MaxSeq {
		dead, err := p.db.NoDocuments(ctx, part, view.Latest)
		if err != nil {
			return err
		}
		n, err := part.CountLiving(ctx, dead, p.inFile(part))
		p.found[part.Meta.Number] = &prunedTable{whole: true, dead: dead, count: n}
		return err
	}
	dead := part.Dead.UpTo(view.Latest)
	kill, passed, step := roaring.New(), p.passed, uint32(0)
	err := part.EachWritten(ctx, p.inFile(part), func(docs []uint32) error {
		if at := docs[0] / passStep; at != step {
			step = at
			p.pass(passed + int64(docs[0]))
		}
		kill.AddMany(docs)
		return nil
	})
	kill.AndNot(dead)
	p.found[part.Meta.Number] = nil
	if !kill.IsEmpty() {
		kill.RunOptimize()
		p.found[part.Meta.Number] = &prunedTable{kill: kill}
	}
	return err
}

// pass reports that n documents have been processed.
func (p *prune) pass(n int64) {
	if p.passed = n; p.report != nil {
		p.report(view.Progress{Stage: "prune", Done: n, Total: max(n, p.docs), Unit: "documents"})
	}
}

// inFile returns the documents to delete by the sequence numbers in the table's file, the least of
// which must be at most MaxSeq.
func (p *prune) inFile(part *view.Part) table.Written {
	w := p.written
	w.MaxSeq = min(w.MaxSeq, part.Meta.MaxSeq) - part.Shift
	return w
}

// publish deletes the documents found, in one transaction. If there are tables that were not
// scanned, or the log must be flushed first, it deletes nothing and reports that more is to be
// scanned.
func (p *prune) publish(ctx context.Context) (more bool, err error) {
	db := p.db
	free := map[uint64]bool{} // tables that no merge reads, and that are reserved
	for number, t := range p.found {
		if t == nil {
			continue
		}
		if giveBack, ok := db.merges.Take(number); ok {
			free[number] = true
			defer giveBack()
		}
	}
	done, err := db.publishing(ctx)
	if err != nil {
		return false, err
	}
	db.writeMu.Lock()
	more, flush, err := p.publishLocked(free)
	db.writeMu.Unlock()
	done()
	if flush {
		err = db.Flush(ctx)
	}
	return more, err
}

// publishLocked is publish, under the locks.
//
// The log must have no write that is older than a table that loses documents. Such a document may
// have replaced one that is in the log; without it, a replay would restore the replaced one. After
// a flush all writes in the log are younger than the tables that existed before it. A dropped table
// also loses the documents that a write in the log has killed, so that write must be safe first.
func (p *prune) publishLocked(free map[uint64]bool) (more, flush bool, err error) {
	db := p.db
	if err := db.Writable(); err != nil {
		return false, false, err
	}
	db.mu.Lock()
	v, mems := db.current, append(slices.Clone(db.immutable), db.active)
	db.mu.Unlock()
	var parts []*view.Part
	for i := range v.Parts {
		part := &v.Parts[i]
		t, done := p.found[part.Meta.Number]
		if !done && p.concerns(part) {
			return true, false, nil
		}
		if t == nil {
			continue
		}
		parts = append(parts, part)
		for _, m := range mems {
			if !follows(m, part) {
				return true, true, nil
			}
		}
	}
	if len(parts) == 0 {
		return false, false, nil
	}
	edit := catalog.Edit{AddTombstones: map[uint64]*roaring.Bitmap{}}
	total, rows := 0, map[uint64]*roaring.Bitmap{}
	for _, part := range parts {
		dead, n, drop, err := p.delete(part, free[part.Meta.Number])
		if err != nil {
			return false, false, err
		}
		total += n
		rows[part.Meta.Number] = dead
		if drop {
			edit.DropTables = append(edit.DropTables, part.Meta.Number)
		} else {
			edit.AddTombstones[part.Meta.Number] = dead
		}
	}
	if edit.Removed, err = db.removals(rows, false); err != nil {
		return false, false, err
	}
	return false, false, p.enter(edit, total)
}

// follows reports whether all writes in the log of m are younger than the documents of a table.
func follows(m *view.Memtable, part *view.Part) bool {
	first := m.MinSeq.Load()
	return first == 0 || first > part.Meta.MaxSeq
}

// delete returns the tombstones to add to a table, and how many documents they delete. drop reports
// that the table has no other documents and is to be dropped. A table that is not free is not
// dropped: a running merge will publish its result in place of the table.
func (p *prune) delete(part *view.Part, free bool) (tombstones *roaring.Bitmap, n int, drop bool, err error) {
	t := p.found[part.Meta.Number]
	dead := part.Dead.UpTo(view.Latest)
	kill := t.kill
	if t.whole {
		count := t.count
		for it := roaring.AndNot(dead, t.dead).Iterator(); it.HasNext(); {
			lived, err := part.Lives(it.Next(), view.Life{Since: p.written.From, Now: p.written.Now})
			if err != nil {
				return nil, 0, false, err
			}
			if lived {
				count--
			}
		}
		n = int(count)
		kill = roaring.New()
		kill.AddRange(0, uint64(part.Meta.Docs))
		kill.AndNot(dead)
	} else {
		kill.AndNot(dead)
		none, err := p.db.NoDocuments(context.Background(), part, view.Latest)
		if err != nil {
			return nil, 0, false, err
		}
		n = int(roaring.AndNot(kill, none).GetCardinality())
	}
	kill.RunOptimize()
	return kill, n, free && dead.GetCardinality()+kill.GetCardinality() == uint64(part.Meta.Docs), nil
}

// enter adds tombstones to tables, and drops tables, in the catalog and in the current version.
// n is the number of documents that this deletes. The caller holds publishMu and writeMu.
func (p *prune) enter(edit catalog.Edit, n int) error {
	db := p.db
	edit.LastSeq = db.NextSeq() // the prune is a write
	if err := db.editCatalog(edit); err != nil {
		return db.fail(err)
	}
	p.deleted = n
	db.Counts.Deletes.Add(int64(n))
	db.mu.Lock()
	db.seq = edit.LastSeq
	var parts []view.Part
	for _, at := range db.current.Parts {
		if slices.Contains(edit.DropTables, at.Meta.Number) {
			at.Obsolete.Store(true)
			continue
		}
		if dead := edit.AddTombstones[at.Meta.Number]; dead != nil {
			at.Dead = at.Dead.With(dead, 0)
		}
		parts = append(parts, at)
	}
	old := db.install(parts)
	db.showLocked(edit.Removed)
	db.mu.Unlock()
	db.unref(old)
	return nil
}
