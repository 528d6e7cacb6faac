package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable"
)

// Snapshot is the database as it was at one moment: it sees every write acknowledged before it was taken and none after.
// It costs next to nothing, blocks nobody, and keeps the files it needs until it is closed. All methods may be called
// from many goroutines.
type Snapshot struct {
	db      *DB
	seq     uint64
	version *version
	mems    []memSnapshot // oldest first
	memBuf  [maxImmutable + 1]memSnapshot
	allowed *allowedPairs
	since   int64 // documents older than this, in microseconds, have expired
	closed  atomic.Bool
}

type memSnapshot struct {
	*memtable
	*memView
}

// Snapshot returns the database as it is now. It must be closed.
func (db *DB) Snapshot() (*Snapshot, error) {
	s := new(Snapshot)
	if err := db.takeSnapshot(s); err != nil {
		return nil, err
	}
	return s, nil
}

// takeSnapshot makes s, which is new or closed, a snapshot of the database as it is now.
func (db *DB) takeSnapshot(s *Snapshot) error {
	s.db, s.since = db, db.expiry()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.current == nil || db.closed.Load() {
		return ErrClosed
	}
	s.closed.Store(false)
	db.current.refs.Add(1)
	s.seq, s.version, s.allowed = db.seq, db.current, db.allowed
	s.mems = s.memBuf[:0]
	for _, m := range db.immutable {
		s.mems = append(s.mems, memSnapshot{m, m.view.Load()})
	}
	s.mems = append(s.mems, memSnapshot{db.active, db.active.view.Load()})
	db.metrics.queries.Add(1)
	return nil
}

// Close releases the snapshot. Closing it again does nothing.
func (s *Snapshot) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.version.unref()
}

// Seq returns the number of the last write that the snapshot sees.
func (s *Snapshot) Seq() uint64 { return s.seq }

// memAlive reports whether d is visible.
func (s *Snapshot) memAlive(d *memDoc) bool { return d.aliveAt(s.seq) && d.Time >= s.since }

// alive reports whether document doc of p is visible.
func (s *Snapshot) alive(p *part, doc uint32) (bool, error) { return p.aliveAt(doc, s.seq, s.since) }

// locate finds the visible document with this ID.
func (s *Snapshot) locate(id string) (place, error) {
	for _, m := range slices.Backward(s.mems) {
		if d := m.find(id, s.seq); d != nil {
			if d.Time < s.since {
				return place{}, notFound(id)
			}
			return place{mem: d}, nil
		}
	}
	p, ok, err := s.version.locate(id, s.seq)
	if err == nil && ok {
		ok, err = s.alive(p.part, p.doc)
	}
	if err == nil && !ok {
		err = notFound(id)
	}
	return p, err
}

// A notFound is the ErrNotFound for an ID. It is written out only if somebody reads it: a load asks for every ID.
type notFound string

func (id notFound) Error() string {
	return fmt.Sprintf("no document %s: %v", quoteID(string(id)), ErrNotFound)
}
func (id notFound) Unwrap() error { return ErrNotFound }

// document reads a place whole.
func (p place) document(d *sstable.Document) error {
	if p.mem != nil {
		*d = p.mem.Document
		return nil
	}
	return p.part.Document(p.doc, d)
}

// entry reads what the indexes know of a place.
func (p place) entry() (Entry, error) {
	if d := p.mem; d != nil {
		return Entry{string(d.ID), d.Fingerprint, d.HasFingerprint, time.UnixMicro(d.Time), d.Seq}, nil
	}
	id, err := p.part.ID(p.doc)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{ID: string(id)}
	if e.Fingerprint, e.HasFingerprint, err = p.part.Fingerprint(p.doc); err != nil {
		return Entry{}, err
	}
	t, err := p.part.Time(p.doc)
	if err != nil {
		return Entry{}, err
	}
	e.Time = time.UnixMicro(t)
	e.Seq, err = p.part.seqOf(p.doc)
	return e, err
}

// seq returns the sequence number of a place's write.
func (p place) seq() (uint64, error) {
	if p.mem != nil {
		return p.mem.Seq, nil
	}
	return p.part.seqOf(p.doc)
}

// time returns when its document was stored, in microseconds.
func (p place) time() (int64, error) {
	if p.mem != nil {
		return p.mem.Time, nil
	}
	return p.part.Time(p.doc)
}

// id returns the document's ID; it aliases the table.
func (p place) id() ([]byte, error) {
	if p.mem != nil {
		return p.mem.ID, nil
	}
	return p.part.ID(p.doc)
}

// Get returns the document with this ID whole; ErrNotFound if there is none.
func (s *Snapshot) Get(ctx context.Context, id string) (d Doc, err error) {
	err = s.safely(ctx, func() error {
		p, err := s.locate(id)
		if err != nil {
			return err
		}
		var sd sstable.Document
		if err := p.document(&sd); err != nil {
			return err
		}
		d = Doc{ID: id, Text: string(sd.Text), Fields: json.RawMessage(bytes.Clone(sd.Fields)), Time: time.UnixMicro(sd.Time)}
		if sd.HasFingerprint {
			d.Fingerprint = &sd.Fingerprint
		}
		return nil
	})
	return d, err
}

// Lookup returns what the indexes know of the document with this ID, without reading its text; ErrNotFound if there is
// none.
func (s *Snapshot) Lookup(ctx context.Context, id string) (e Entry, err error) {
	err = s.safely(ctx, func() error {
		p, err := s.locate(id)
		if err == nil {
			e, err = p.entry()
		}
		return err
	})
	return e, err
}

// each calls fn for every visible document, memtables last.
func (s *Snapshot) each(ctx context.Context, fn func(place) error) error {
	for i := range s.version.parts {
		if err := s.eachOf(ctx, &s.version.parts[i], fn); err != nil {
			return err
		}
	}
	if err := s.eachMem(fn); err != nil {
		return err
	}
	return ctx.Err()
}

// eachOf is each for a table.
func (s *Snapshot) eachOf(ctx context.Context, p *part, fn func(place) error) error {
	for doc := range p.NumDocs() {
		if doc%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		ok, err := s.alive(p, doc)
		if err == nil && ok {
			err = fn(place{part: p, doc: doc})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachMem is each for the memtables.
func (s *Snapshot) eachMem(fn func(place) error) error {
	for _, m := range s.mems {
		for _, d := range m.docs {
			if s.memAlive(d) {
				if err := fn(place{mem: d}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// safely runs fn, which reads mapped files. A page that can't be read (a table that was cut short by somebody else, a disk
// error) is a fault; here it becomes an error.
func (s *Snapshot) safely(ctx context.Context, fn func() error) (err error) {
	if s.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	defer s.recoverFault(debug.SetPanicOnFault(true), &err)
	return fn()
}

// recoverFault is deferred by safely. Panics that are no faults go on.
func (s *Snapshot) recoverFault(before bool, err *error) {
	debug.SetPanicOnFault(before)
	r := recover()
	if r == nil {
		return
	}
	fault, ok := r.(interface {
		error
		Addr() uintptr
	})
	if !ok {
		panic(r)
	}
	*err = s.blame(fault)
}

// blame returns the error for a fault: it names the table that is shorter than the catalog says, if one is.
func (s *Snapshot) blame(fault error) error {
	for _, p := range s.version.parts {
		info, err := s.db.dir.Stat(p.name)
		if err != nil {
			return &CorruptionError{File: p.name, Section: "file", Offset: -1, Err: err}
		}
		if info.Size < p.meta.Size {
			return base.Corruptf(p.name, "file", info.Size, "cut short: %d bytes of %d: %w", info.Size, p.meta.Size, fault)
		}
	}
	return base.Corruptf(s.db.path, "file", -1, "a mapped page can't be read: %w", fault)
}
