package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// A Reader reads a database. It is a part of each DB, Snapshot and Tx, and is never used on its own.
// The methods of a DB or a Tx see the state at the time of the call, or when their iteration begins;
// the methods of a Snapshot see the state in which the Snapshot was created. After Close they
// return ErrClosed.
type Reader struct {
	db *DB
	s  *Snapshot // nil for the newest state
	tx *store.Tx // that reads, or nil
}

// Snapshot is the database as it was at one moment: it sees every write acknowledged before it was
// created and none after. It is cheap, blocks nothing, and holds the files that it needs until it
// is closed. Its methods may be called from many goroutines.
type Snapshot struct {
	Reader
	v view.View
}

// Snapshot returns a Snapshot of the state that the methods of r see now. The caller must close it.
// The error is ErrClosed.
func (r *Reader) Snapshot() (*Snapshot, error) {
	s := new(Snapshot)
	s.Reader = Reader{r.db, s, r.tx}
	if err := r.take(&s.v); err != nil {
		return nil, err
	}
	return s, nil
}

// take makes v a view of the state that the methods of r see now. The zero Reader reads nothing.
func (r *Reader) take(v *view.View) error {
	switch {
	case r.db == nil:
		return ErrClosed
	case r.s != nil:
		return v.Copy(&r.s.v)
	case r.tx != nil:
		return r.tx.TakeView(v)
	}
	return r.db.s.TakeView(v)
}

// searches must be called before a transaction reads more than documents by their IDs.
func (r *Reader) searches() {
	if r.tx != nil {
		r.tx.Searched.Store(true)
	}
}

// during lets reads of Options.Table end with ctx until end is called.
func (r *Reader) during(ctx context.Context) (end func()) {
	if r.db == nil || r.db.during == nil {
		return func() {}
	}
	return r.db.during(ctx)
}

// Close releases the snapshot. Closing it again does nothing.
func (s *Snapshot) Close() error { return s.v.Close() }

// read returns the result of fn, which may search, for the state that r reads.
func read[T any](ctx context.Context, r *Reader, fn func(*Snapshot) (T, error)) (T, error) {
	r.searches()
	return readByID(ctx, r, fn)
}

// readByID is read for fn that finds documents by locate.
func readByID[T any](ctx context.Context, r *Reader, fn func(*Snapshot) (T, error)) (T, error) {
	defer r.during(ctx)()
	if r.s != nil {
		return fn(r.s)
	}
	s, err := r.Snapshot()
	if err != nil {
		var zero T
		return zero, err
	}
	defer s.Close()
	return fn(s)
}

// each yields what fn yields, which may search, for the state that r reads.
func each[T any](ctx context.Context, r *Reader, fn func(*Snapshot) iter.Seq2[T, error]) iter.Seq2[T, error] {
	r.searches()
	return func(yield func(T, error) bool) {
		defer r.during(ctx)()
		if r.s != nil {
			fn(r.s)(yield)
			return
		}
		s, err := r.Snapshot()
		if err != nil {
			var zero T
			yield(zero, err)
			return
		}
		defer s.Close()
		fn(s)(yield)
	}
}

// locate returns the place of the document with this ID, on which a transaction then depends, or
// ErrNotFound. The caller must run it within Safely.
func (s *Snapshot) locate(id string) (view.Place, error) {
	p, err := s.v.Locate(id)
	if s.tx != nil && (err == nil || errors.Is(err, ErrNotFound)) {
		err = cmp.Or(s.tx.Read(id, p, err == nil), err)
	}
	return p, err
}

// Get returns the document with this ID, or ErrNotFound if there is none.
func (r *Reader) Get(ctx context.Context, id string) (Doc, error) {
	return readByID(ctx, r, func(s *Snapshot) (d Doc, err error) {
		err = s.v.Safely(ctx, func() error {
			p, err := s.locate(id)
			if err != nil {
				return err
			}
			d.ID = id
			return s.readWhole(&d, p)
		})
		return d, err
	})
}

// readWhole reads the document at p, whose ID is d.ID, with text and fields. The caller must run it
// within Safely.
func (s *Snapshot) readWhole(d *Doc, p view.Place) error {
	var sd table.Document
	if err := p.Unnamed(&sd); err != nil {
		return err
	}
	more, err := s.v.Fingerprints(d.ID)
	d.Text, d.Fields = string(sd.Text), json.RawMessage(bytes.Clone(sd.Fields))
	d.Fingerprints = fingerprintsOf(sd.HasFingerprint, sd.Fingerprint, sd.Rest, more)
	d.Time, d.Expires, d.Seq = time.UnixMicro(sd.Time), sd.ExpiresAt(), sd.Seq
	return err
}

// read is readWhole without text and fields.
func (s *Snapshot) read(d *Doc, p view.Place) error {
	e, err := p.EntryOf(d.ID)
	if err != nil {
		return err
	}
	more, err := s.v.Fingerprints(d.ID)
	d.Fingerprints = fingerprintsOf(e.HasFingerprint, e.Fingerprint, e.Rest, more)
	d.Time, d.Expires, d.Seq = e.Time, e.Expires, e.Seq
	return err
}

// A Content is the content of a document that Contents yields. Its slices are valid until the next
// one is yielded, and must not be changed.
type Content struct {
	Index        int // of the ID in the list that Contents got
	Text, Fields []byte
}

// Contents yields the text and fields of the document of each of ids in storage order, so that a
// block shared by several documents is read and decompressed once. It reads nothing else of them:
// Lookup has the rest. It skips IDs that do not exist. An error is the last value yielded: ErrClosed,
// *CorruptionError, or ctx.Err().
func (r *Reader) Contents(ctx context.Context, ids []string) iter.Seq2[Content, error] {
	return each(ctx, r, func(s *Snapshot) iter.Seq2[Content, error] {
		return func(yield func(Content, error) bool) {
			err := s.v.EachPlace(ctx, ids, func(i int, _ view.Place, text, fields []byte) error {
				if !yield(Content{i, text, fields}, nil) {
					return view.ErrStopped
				}
				return nil
			})
			if err != nil && err != view.ErrStopped {
				yield(Content{}, err)
			}
		}
	})
}

// Lookup returns the document with this ID without its text and fields, which it does not read, or
// ErrNotFound if there is none.
func (r *Reader) Lookup(ctx context.Context, id string) (Doc, error) {
	return readByID(ctx, r, func(s *Snapshot) (Doc, error) {
		e, err := s.lookup(ctx, id)
		return Doc{
			ID: e.ID, Fingerprints: fingerprintsOf(e.HasFingerprint, e.Fingerprint, e.Rest, e.Fingerprints), Time: e.Time, Expires: e.Expires, Seq: e.Seq,
		}, err
	})
}

func (s *Snapshot) lookup(ctx context.Context, id string) (e view.Entry, err error) {
	err = s.v.Safely(ctx, func() error {
		p, err := s.locate(id)
		if err == nil {
			if e, err = p.Entry(); err == nil {
				e.Fingerprints, err = s.v.Fingerprints(id)
			}
		}
		return err
	})
	return e, err
}
