package salvage

import (
	"errors"
	"maps"
	"slices"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/base"
)

// identify finds the UUID of a database without a catalog in the headers of its logs.
func (r *recovery) identify() error {
	for _, n := range r.logs {
		f, err := r.from.Open(files.LogName(n))
		if err != nil {
			return err
		}
		head := make([]byte, wal.HeaderSize)
		size, _ := f.ReadAt(head, 0)
		if h, ok := wal.ParseHeader(head[:size]); ok {
			r.state.UUID = h.Database
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// doubtLog reports that writes of a log may be lost.
func (r *recovery) doubtLog(name string) {
	r.report.Doubts = append(r.report.Doubts, Doubt{name, -1, "writes of the log may be lost: documents that they deleted or replaced have come back"})
}

// copyLogs copies the intact frames of all logs to a new one.
func (r *recovery) copyLogs() (err error) {
	s := &r.state
	logs := slices.DeleteFunc(r.logs, func(n uint64) bool { return n < s.FirstWAL })
	want := map[uint64]bool{s.Closed.Number: r.known}
	for len(logs) > 1 { // a log without frames; only the one before it may lack an end frame
		info, err := r.from.Stat(files.LogName(logs[len(logs)-1]))
		if err != nil {
			return err
		}
		if info.Size != wal.HeaderSize {
			break
		}
		logs = logs[:len(logs)-1]
	}
	if len(logs) > 0 {
		number := s.NextFile
		s.NextFile++
		var w *wal.Writer
		if w, err = wal.Create(r.to, files.LogName(number), wal.Header{Database: s.UUID, Number: number}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		for i, n := range logs {
			if err := r.copyLog(n, i == len(logs)-1, w, want); err != nil {
				return err
			}
		}
		s.FirstWAL = number
	}
	for _, n := range slices.Sorted(maps.Keys(want)) {
		if want[n] && !slices.Contains(logs, n) && n > 0 && n >= r.cat.State.FirstWAL {
			r.lose(base.Corruptf(files.LogName(n), "file", -1, "missing"), Loss{})
			r.doubtLog(files.LogName(n))
		}
	}
	s.Closed = catalog.LogEnd{}
	return nil
}

// copyLog copies the intact frames of one log, and reports the unreadable parts. It adds the log
// that the first frame names to want, with r.known as the value.
func (r *recovery) copyLog(number uint64, last bool, w *wal.Writer, want map[uint64]bool) error {
	name, closed := files.LogName(number), r.state.Closed
	var expected *wal.Header
	if r.state.UUID != ([16]byte{}) {
		expected = &wal.Header{Database: r.state.UUID, Number: number}
	}
	losses := len(r.report.Losses)
	res, err := wal.Salvage(r.from, name, expected, func(at int64, payload []byte) error {
		var recs []wal.Record // without what they replace: tables have other numbers now
		err := wal.Decode(payload, func(before uint64) error { want[before] = r.known; return nil }, func(rec wal.Record) error {
			rec.Replaces = wal.Replaced{}
			if recs = append(recs, rec); !r.stated && len(rec.Doc.Rest) > 0 {
				r.params.Words = uint32(1 + len(rec.Doc.Rest))
			}
			return nil
		})
		if err != nil {
			r.lose(base.Corruptf(name, "batch", at, "%w", err), Loss{})
			return nil
		}
		if len(recs) == 0 {
			return nil
		}
		payload = wal.Encode(payload[:0:0], recs)
		wal.SetFirst(payload, recs[0].Doc.Seq)
		end, err := w.Append(payload)
		if err == nil {
			err = w.Flush(end)
		}
		return errors.Join(err, r.ctx.Err())
	})
	if err != nil {
		return err
	}
	for _, gap := range res.Gaps {
		r.lose(gap, Loss{})
	}
	switch {
	case len(res.Gaps) > 0:
	case number == closed.Number && res.End < closed.Size:
		r.lose(base.Corruptf(name, wal.Section, res.End, "ends here, but had %d bytes when the database was closed", closed.Size), Loss{})
	case !res.Clean && !last:
		r.lose(base.Corruptf(name, wal.Section, res.End, "the log stops without an end frame and is not the last"), Loss{})
	}
	if len(r.report.Losses) > losses {
		r.doubtLog(name)
	}
	return nil
}
