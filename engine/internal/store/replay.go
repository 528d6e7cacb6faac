package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/base"
)

// MaxReplayedLogs is how many logs of earlier runs a memtable may have before it is flushed. A
// database that is opened repeatedly for single writes then accumulates neither a table nor a log
// for each.
const MaxReplayedLogs = 4

// replayLogs adds the writes of the logs, oldest first, to the active memtable.
func (db *Store) replayLogs(s *catalog.State, logs []uint64) error {
	start := time.Now()
	frames := 0
	db.readTo = readTo{flushed: s.FlushedSeq, firstLog: s.FirstWAL}
	if n := s.Closed.Number; n > 0 && n >= s.FirstWAL && !slices.Contains(logs, n) {
		return base.Corruptf(files.LogName(n), "file", -1, "missing: it was the newest log when the database was closed")
	}
	for i, number := range logs {
		last := i == len(logs)-1
		r := replay{db: db, flushed: s.FlushedSeq, name: files.LogName(number), firstLog: s.FirstWAL}
		db.nextLogLocked(number)
		if i > 0 {
			r.before = logs[i-1]
		}
		res, err := r.run(wal.Options{Last: last, Header: &wal.Header{Database: db.UUID, Number: number}})
		if err != nil {
			return err
		}
		if number == s.Closed.Number && res.End != s.Closed.Size {
			return base.Corruptf(r.name, wal.Section, res.End, "ends here, but had %d bytes when the database was closed", s.Closed.Size)
		}
		frames += res.Frames
		db.seq = max(db.seq, r.seq)
		at := &db.readTo
		at.log, at.first, at.end, at.ended = number, r.first, res.End, res.Clean
		size := res.End
		if last && !db.opts.ReadOnly && number != s.Closed.Number { // earlier logs, and a log with a mark, are durable already
			if res.Torn {
				db.log.Warn("cutting the torn end of the log", "path", db.Path, "file", r.name, "bytes", res.TornBytes)
			}
			if size, err = wal.Cut(db.Dir, r.name, res); err != nil {
				return err
			}
			at.end, at.ended = size, true
		}
		if size > 0 { // otherwise the log was empty and is gone: the next log must not name it
			db.newestLog = catalog.LogEnd{Number: number, Size: size}
		} else {
			at.log, db.active.Logs = db.newestLog.Number, db.active.Logs[:len(db.active.Logs)-1]
		}
	}
	db.active.Publish()
	if err := db.active.Cur.Doubt.Newer; err != nil && !db.opts.ReadOnly {
		db.fail(err)
	}
	if frames > 0 {
		db.event(Event{Kind: EventRecover, Docs: len(db.active.Cur.Docs), Duration: time.Since(start)})
	}
	if !db.opts.ReadOnly && !db.active.Empty() &&
		(len(db.active.Logs) >= MaxReplayedLogs || db.active.Bytes >= db.opts.MemtableBytes/2) {
		db.rotateLocked()
	}
	return nil
}

// A replay reads the frames of one log. It collects writes, so that several goroutines can look up
// their IDs in the tables: each lookup reads pages that are not in memory yet. Then it adds the
// writes to the memtable in order.
type replay struct {
	db               *Store
	name             string
	flushed          uint64 // writes up to this number are in tables
	firstLog, before uint64 // the first log to replay; the log replayed before this one, 0 if none
	first, seq       uint64 // of the first and the last write
	writes           []replayed
	bytes            int // size of the frames of writes
}

// A replayed is a write of a log, with the versions of its ID that tables have.
//
// Most writes need not be looked up, because the log says what they replace (wal.Replaced):
//
//   - The tables that exist when a write is replayed are those that the writer had, flushed
//     memtables, results of merges, and tables of loads and ingests. FlushedSeq is lower than the
//     write's number, so the writer's memtable is in none of them, and a table with a document that
//     is newer than the write has a higher MaxSeq. Only such tables can have a newer version.
//   - The writer found at most one living version. Every other one was dead: durably, or by an
//     earlier write of a log, which is replayed before.
//   - NoTable: no table has an older version. If the writer's own memtable has one, it is replayed
//     before.
//   - InTable: the table is there and unchanged, since numbers are not assigned twice; or it was
//     merged, and the document, if it is left, is in a table with a higher number; or all of its
//     documents were dropped.
//   - Earlier: the memtable has not been flushed, and is replayed before; or it has become a table,
//     which may have been merged. The table's numbers include that of the document.
//   - A write of a batch says what was stored before the batch. If an earlier write of the batch has
//     the same ID, that one is in the memtable when this one is replayed, and the document in the
//     table is dead already.
//
// Recover gives tables other numbers, so it removes what writes replace (salvage).
type replayed struct {
	wal.Record
	stored []storedVersion
	doubt  view.Doubt
}

// mayBeIn reports whether table p may have a version of w that the log does not locate. flushed is
// State.FlushedSeq, and here reports whether the table that the log names exists.
func (w *replayed) mayBeIn(p *view.Part, flushed uint64, here bool) bool {
	if p.Meta.MaxSeq > w.Doc.Seq {
		return true
	}
	switch r := &w.Replaces; r.Where {
	case wal.NoTable:
		return false
	case wal.InTable:
		return !here && p.Meta.Number > r.Table
	case wal.Earlier:
		return r.Seq <= flushed && p.Meta.MinSeq <= r.Seq && r.Seq <= p.Meta.MaxSeq
	}
	return true
}

// A storedVersion is a document of a table.
type storedVersion struct {
	part *view.Part
	doc  uint32
	seq  uint64 // exact, or another number on the same side of the write's number
}

// Collected writes are applied when there are this many, or their frames have this size.
const (
	replayWrites = 1024
	replayBytes  = 4 << 20
)

func (r *replay) run(o wal.Options) (wal.Result, error) {
	res, err := wal.Replay(r.db.Dir, r.name, o, r.frame)
	if err == nil {
		err = r.apply()
	}
	return res, err
}

func (r *replay) frame(payload []byte) error {
	err := wal.Decode(payload, r.start, r.write)
	if errors.Is(err, wal.ErrMalformed) {
		return base.Corruptf(r.name, "batch", -1, "%w", err)
	}
	if r.bytes += len(payload); err == nil && (r.bytes >= replayBytes || len(r.writes) >= replayWrites) {
		err = r.apply()
	}
	return err
}

// start checks that the previous log was replayed, unless tables have all of its writes.
func (r *replay) start(before uint64) error {
	if before != r.before && before >= r.firstLog {
		return base.Corruptf(files.LogName(before), "file", -1, "missing: %s continues it", r.name)
	}
	return nil
}

// write collects one write, unless a table has it.
func (r *replay) write(rec wal.Record) error {
	r.first, r.seq = cmp.Or(r.first, rec.Doc.Seq), max(r.seq, rec.Doc.Seq)
	if rec.Doc.Seq > r.flushed {
		r.writes = append(r.writes, replayed{Record: rec})
	}
	return nil
}

// apply adds the collected writes to the memtable. It leaves out documents for which a table has a
// newer version: loads write tables directly and overtake the log.
func (r *replay) apply() error {
	db := r.db
	if err := r.locate(); err != nil {
		return fmt.Errorf("replaying %s: %w", r.name, err)
	}
	for i := range r.writes {
		w := &r.writes[i]
		switch newer := db.killOlder(w); {
		case w.Delete:
			db.active.Delete(&w.Doc)
		case !newer:
			db.active.Add(&w.Doc)
		}
		db.active.Cur.Doubt.Or(w.doubt)
		db.active.Wrote(w.Doc.Seq)
	}
	clear(r.writes)
	r.writes, r.bytes = r.writes[:0], 0
	return nil
}

// locate finds the living versions of the writes in the tables. It returns the error of the first
// write that fails.
func (r *replay) locate() error {
	here := make([]bool, len(r.writes)) // whether the table that a write names exists
	for i := range r.writes {
		w := &r.writes[i]
		if w.Replaces.Where != wal.InTable {
			continue
		}
		p := r.db.current.Part(w.Replaces.Table)
		if here[i] = p != nil; !here[i] {
			continue
		}
		if w.Replaces.Doc >= p.Meta.Docs {
			return base.Corruptf(r.name, "batch", -1, "write %d replaces document %d of %d in %s", w.Doc.Seq, w.Replaces.Doc, p.Meta.Docs, p.Name)
		}
		if !p.Dead.DeadAt(w.Replaces.Doc, view.Latest) {
			w.stored = append(w.stored, storedVersion{p, w.Replaces.Doc, 0})
		}
	}
	return inShares(len(r.writes), func(from, to int) error { return r.locateStored(r.writes[from:to], here[from:to]) })
}

// locateStored finds the living versions of some writes in the tables where they may be. If the ID
// hashes of a table are damaged, it searches the table by name.
func (r *replay) locateStored(writes []replayed, here []bool) error {
	db := r.db
	for j := range db.current.Parts {
		p := &db.current.Parts[j]
		missed, damage := map[string][]*replayed{}, error(nil)
		for i := range writes {
			w := &writes[i]
			if !w.mayBeIn(p, r.flushed, here[i]) {
				continue
			}
			switch doc, ok, err := p.Lookup(w.Doc.ID); {
			case errors.Is(err, base.ErrCorruption):
				missed[string(w.Doc.ID)], damage = append(missed[string(w.Doc.ID)], w), err
			case err != nil:
				return err
			case ok:
				w.found(p, doc)
			}
		}
		if damage != nil {
			db.log.Error("a table is damaged where IDs of the log are looked up; its names are searched instead", "path", db.Path, "err", damage)
			db.setApart([]*view.Part{p}, damage)
			locateByName(p, missed)
		}
	}
	return nil
}

// locateByName finds documents in a table by ID, for writes whose hashes cannot be read. If names
// cannot be read either, it marks the write as doubtful.
func locateByName(p *view.Part, missed map[string][]*replayed) {
	var damage error
	for doc := range p.Meta.Docs {
		id, err := p.ID(doc)
		if err != nil {
			damage = err
			continue
		}
		for _, w := range missed[string(id)] {
			w.found(p, doc)
		}
		delete(missed, string(id))
	}
	for _, writes := range missed {
		for _, w := range writes {
			w.unknown(p, damage)
		}
	}
}

// found records a document of a table that has the ID of w. It reads the document's sequence number
// only if the range of numbers in the table does not show which of the two is older.
func (w *replayed) found(p *view.Part, doc uint32) {
	if p.Dead.DeadAt(doc, view.Latest) {
		return
	}
	seq, err := p.Meta.MaxSeq, error(nil)
	if p.Meta.MinSeq < w.Doc.Seq && w.Doc.Seq < seq {
		seq, err = p.SeqOf(doc)
	}
	if err != nil {
		w.unknown(p, err)
		return
	}
	w.stored = append(w.stored, storedVersion{p, doc, seq})
}

// unknown records that damage to a table hides whether the table has another version of w. It does
// nothing if damage is nil.
func (w *replayed) unknown(p *view.Part, damage error) {
	if damage == nil {
		return
	}
	d := view.Doubt{Older: damage}
	if p.Meta.MaxSeq > w.Doc.Seq {
		d.Newer = damage
	}
	w.doubt.Or(d)
	p.Uncounted.Store(&damage)
}

// killOlder marks all older versions of a document dead, and reports whether there is a newer one.
// During a replay both may exist: a load that overtook the log may have stored a newer version
// while the log has yet to delete an older one.
func (db *Store) killOlder(w *replayed) (newer bool) {
	have := db.storedLocked()
	if d := have.inMemory(w.Doc.ID); d != nil {
		view.Place{Mem: d}.Kill(w.Doc.Seq) // the log is in order
	}
	for _, s := range w.stored {
		switch {
		case s.part.Dead.DeadAt(s.doc, view.Latest): // killed by a write that was collected with w
		case s.seq > w.Doc.Seq:
			newer = true
		default:
			s.part.Dead.Kill(s.doc, w.Doc.Seq)
		}
	}
	return newer
}
