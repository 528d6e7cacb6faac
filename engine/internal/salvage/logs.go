package salvage

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable"
)

// lastWrite is the last write of an ID in the logs.
type lastWrite struct {
	seq     uint64
	deleted bool
	old     bool // a table has a later one
}

// isOutdated reports whether the logs have a later write of an ID than one that a table has; if the
// table's is later, it notes that.
func (r *recovery) isOutdated(id []byte, seq uint64) bool {
	w := r.latest[string(id)]
	if w == nil {
		return false
	}
	w.old = w.old || w.seq <= seq
	return w.seq > seq
}

// readLogs learns which write of each ID was the last one.
func (r *recovery) readLogs() error {
	slices.SortFunc(r.inv.logs, func(a, b foundLog) int { return cmp.Compare(a.number, b.number) })
	r.inv.logs = slices.DeleteFunc(r.inv.logs, func(l foundLog) bool {
		return r.cat.Current && l.number < r.cat.State.FirstWAL && l.header != nil
	})
	s := &r.cat.State
	have, want := map[uint64]bool{}, map[uint64]bool{s.Closed.Number: true}
	for i := range r.inv.logs {
		have[r.inv.logs[i].number] = true
		if err := r.readLog(i, func(before uint64) { want[before] = r.cat.HasState }); err != nil {
			return err
		}
	}
	for _, n := range slices.Sorted(maps.Keys(want)) {
		if want[n] && !have[n] && n > 0 && n >= s.FirstWAL {
			r.lose(base.Corruptf(files.LogName(n), "file", -1, "missing"), Loss{})
			r.doubtLog(files.LogName(n))
		}
	}
	return nil
}

// doubtLog notes that writes of a log may be lost.
func (r *recovery) doubtLog(name string) {
	r.report.Doubts = append(r.report.Doubts, Doubt{name, -1, "writes of the log may be lost: what they deleted or replaced is there again"})
}

// header returns the header that a log should have, nil if that is not known.
func (r *recovery) header(l *foundLog) *wal.Header {
	if l.header != nil {
		return l.header
	}
	if r.uuid == ([16]byte{}) {
		return nil
	}
	return &wal.Header{Database: r.uuid, Number: l.number}
}

// readLog reads log i for the first time.
func (r *recovery) readLog(i int, before func(uint64)) error {
	l := &r.inv.logs[i]
	if l.header != nil && l.header.Database != r.uuid {
		r.lose(base.Corruptf(l.name, wal.Section, 0, "a log of another database, %x", l.header.Database), Loss{})
		l.name = ""
		return nil
	}
	res, err := wal.Salvage(r.from, l.name, r.header(l), func(at int64, payload []byte) error {
		err := wal.Decode(payload, func(number uint64) error { before(number); return nil }, func(w wal.Record) error {
			r.note(&w.Doc, w.Delete)
			return nil
		})
		if err != nil {
			r.lose(base.Corruptf(l.name, "batch", at, "%w", err), Loss{})
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.checkLog(i, res)
	return nil
}

// checkLog reports what of log i can't be read.
func (r *recovery) checkLog(i int, res wal.Salvaged) {
	l, last := &r.inv.logs[i], i == len(r.inv.logs)-1
	closed := r.cat.State.Closed
	isClosed := l.number == closed.Number
	for _, g := range res.Gaps {
		err := g.Err
		if g.Torn && !res.Clean && last && !isClosed {
			err = base.Corruptf(l.name, wal.Section, g.Offset, "%d bytes: damaged, or what a crash left half written", g.Bytes)
		}
		r.lose(err, Loss{File: l.name})
	}
	switch {
	case len(res.Gaps) > 0:
	case isClosed && res.End < closed.Size:
		r.lose(base.Corruptf(l.name, wal.Section, res.End, "ends here, but had %d bytes when the database was closed", closed.Size), Loss{})
	case !res.Clean && !last:
		r.lose(base.Corruptf(l.name, wal.Section, res.End, "the log stops without an end frame and is not the last"), Loss{})
	default:
		return
	}
	r.doubtLog(l.name)
}

// note takes in a write of a log. Those that are in tables are known to be, if the catalog is
// current.
func (r *recovery) note(d *sstable.Document, deleted bool) {
	if r.guess && len(d.Rest) > 0 {
		r.params.Words = uint32(1 + len(d.Rest))
	}
	if r.cat.Current && d.Seq <= r.cat.State.FlushedSeq {
		return
	}
	if w := r.latest[string(d.ID)]; w == nil {
		r.latest[string(d.ID)] = &lastWrite{seq: d.Seq, deleted: deleted}
	} else if w.seq < d.Seq {
		w.seq, w.deleted = d.Seq, deleted
	}
}

func (r *recovery) copyLogs() error {
	w := &tableWriter{t: r.to, most: r.params.MaxDocs()}
	for i := range r.inv.logs {
		l := &r.inv.logs[i]
		if l.name == "" {
			continue
		}
		_, err := wal.Salvage(r.from, l.name, r.header(l), func(_ int64, payload []byte) error {
			var failed error
			err := wal.Decode(payload, func(uint64) error { return nil }, func(rec wal.Record) error {
				d := &rec.Doc
				if last := r.latest[string(d.ID)]; !rec.Delete && last != nil && last.seq == d.Seq && !last.deleted && !last.old {
					failed = w.add(d)
				}
				return failed
			})
			if failed != nil {
				return failed
			}
			_ = err // was reported when the log was read before
			return r.ctx.Err()
		})
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", filepath.Base(l.name), err), w.abort())
		}
	}
	return w.close()
}
