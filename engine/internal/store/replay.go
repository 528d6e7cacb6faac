package store

import (
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

// maxReplayedLogs is how many logs a memtable may keep from earlier runs before it is flushed: a
// database that is opened for single writes again and again gets neither a table nor a log for
// each.
const MaxReplayedLogs = 4

// replayLogs brings the writes of the logs, oldest first, into the active memtable.
func (db *Store) replayLogs(s *catalog.State, logs []uint64) error {
	start := time.Now()
	frames := 0
	if n := s.Closed.Number; n > 0 && n >= s.FirstWAL && !slices.Contains(logs, n) {
		return base.Corruptf(files.LogName(n), "file", -1, "missing: it was the newest log when the database was closed")
	}
	for i, number := range logs {
		last := i == len(logs)-1
		r := replay{db: db, flushed: s.FlushedSeq, name: files.LogName(number), firstLog: s.FirstWAL}
		if i > 0 {
			r.before = logs[i-1]
		}
		res, err := wal.Replay(db.Dir, r.name, wal.Options{Last: last, Header: &wal.Header{Database: db.uuid, Number: number}}, r.frame)
		if err != nil {
			return err
		}
		if number == s.Closed.Number && res.End != s.Closed.Size {
			return base.Corruptf(r.name, wal.Section, res.End, "ends here, but had %d bytes when the database was closed", s.Closed.Size)
		}
		frames += res.Frames
		db.seq = max(db.seq, r.seq)
		db.readTo = readTo{log: number, end: res.End, ended: res.Clean}
		size := res.End
		if last && !db.opts.ReadOnly && number != s.Closed.Number { // logs before the last are durable, and so is one with a mark
			if res.Torn {
				db.log.Warn("cutting the torn end of the log", "path", db.Path, "file", r.name, "bytes", res.TornBytes)
			}
			if size, err = wal.Cut(db.Dir, r.name, res); err != nil {
				return err
			}
		}
		if size > 0 { // else it held nothing and is gone: the next log must not name it
			db.active.Logs = append(db.active.Logs, number)
			db.newestLog = catalog.LogEnd{Number: number, Size: size}
		}
	}
	db.active.Publish()
	if frames > 0 {
		db.event(Event{Kind: EventRecover, Docs: len(db.active.Cur.Docs), Duration: time.Since(start)})
	}
	if !db.opts.ReadOnly && !db.active.Empty() &&
		(len(db.active.Logs) >= MaxReplayedLogs || db.active.Bytes >= db.opts.MemtableBytes/2) {
		return db.rotateLocked()
	}
	return nil
}

// A replay takes the frames of one log.
type replay struct {
	db               *Store
	name             string
	flushed          uint64 // writes up to here are in tables
	firstLog, before uint64 // the first log to replay; the one replayed before this, 0 if this is it
	seq              uint64 // of the last write
}

func (r *replay) frame(payload []byte) error {
	err := decodeBatch(payload, r.start, r.write)
	if errors.Is(err, errBatch) {
		return base.Corruptf(r.name, "batch", -1, "%w", err)
	}
	return err
}

// start checks that the log before this one is there, unless all of that is in tables.
func (r *replay) start(before uint64) error {
	if before != r.before && before >= r.firstLog {
		return base.Corruptf(files.LogName(before), "file", -1, "missing: %s goes on where it ends", r.name)
	}
	return nil
}

// write brings one write into the memtable, unless a table has it, or a newer version of its
// document, already: loads go straight to tables and overtake the log.
func (r *replay) write(rec record) error {
	db := r.db
	seq := rec.doc.Seq
	r.seq = max(r.seq, seq)
	if seq <= r.flushed {
		return nil
	}
	newer, err := db.killOlder(rec.doc.ID, seq)
	if err != nil {
		return fmt.Errorf("replaying %s: %w", r.name, err)
	}
	if !rec.del && !newer {
		db.active.Add(&rec.doc)
	}
	db.active.Wrote(seq)
	return nil
}

// killOlder marks every version of id that was written before seq dead, and reports whether one was
// written later. While logs are replayed there may be both: a load that overtook the log may have
// put a newer version beside one that the log has yet to delete.
func (db *Store) killOlder(id []byte, seq uint64) (newer bool, err error) {
	if d := db.active.Find(id, view.Latest); d != nil {
		view.Place{Mem: d}.Kill(seq) // the log is in order
	}
	for i := range db.current.Parts {
		p := &db.current.Parts[i]
		doc, ok, err := p.Lookup(id)
		if err != nil {
			return false, err
		}
		if !ok || p.Dead.DeadAt(doc, view.Latest) {
			continue
		}
		stored, err := p.SeqOf(doc)
		if err != nil {
			return false, err
		}
		if stored > seq {
			newer = true
		} else {
			p.Dead.Kill(doc, seq)
		}
	}
	return newer, nil
}
