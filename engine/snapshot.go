package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// Snapshot is the database as it was at one moment: it sees every write acknowledged before it was
// created and none after. It is cheap, blocks nothing, and holds the files that it needs until it
// is closed. Its methods may be called from many goroutines.
type Snapshot struct {
	db *DB
	v  view.View
}

// Snapshot returns the database as it is now. It must be closed. The error is ErrClosed.
func (db *DB) Snapshot() (*Snapshot, error) {
	s := &Snapshot{db: db}
	if err := db.s.TakeView(&s.v); err != nil {
		return nil, err
	}
	return s, nil
}

// Close releases the snapshot. Closing it again does nothing.
func (s *Snapshot) Close() error { return s.v.Close() }

// Size returns the approximate number of documents: all in tables and memtables, including deleted,
// replaced and expired documents that merges have not removed yet. It is immediate.
func (s *Snapshot) Size() (n int64) {
	for i := range s.v.Version.Parts {
		n += int64(s.v.Version.Parts[i].NumDocs())
	}
	for _, m := range s.v.Mems {
		n += int64(len(m.Docs))
	}
	return n
}

// Get returns the document with this ID, or ErrNotFound if there is none.
func (s *Snapshot) Get(ctx context.Context, id string) (d Doc, err error) {
	err = s.v.Safely(ctx, func() error {
		p, err := s.v.Locate(id)
		if err != nil {
			return err
		}
		d.ID = id
		return s.readWhole(&d, p)
	})
	return d, err
}

// readWhole reads the document at p, whose ID is d.ID, with text and fields. The caller must run it
// within Safely.
func (s *Snapshot) readWhole(d *Doc, p view.Place) error {
	var sd table.Document
	err := p.WithoutSketch(&sd)
	if err == nil {
		sd.Seq, err = p.Seq()
	}
	if err == nil {
		*d = docOf(d.ID, &sd)
		d.Fingerprints, err = s.v.Fingerprints(d.ID)
	}
	return err
}

// read is readWhole without text and fields.
func (s *Snapshot) read(d *Doc, p view.Place) error {
	e, err := p.EntryOf(d.ID)
	if err != nil {
		return err
	}
	if e.HasFingerprint {
		d.Fingerprint, d.Rest = &e.Fingerprint, e.Rest
	}
	d.Time, d.Seq = e.Time, e.Seq
	d.Fingerprints, err = s.v.Fingerprints(d.ID)
	return err
}

// docOf returns a copy of a stored document.
func docOf(id string, sd *table.Document) Doc {
	d := Doc{ID: id, Text: string(sd.Text), Fields: json.RawMessage(bytes.Clone(sd.Fields)), Time: time.UnixMicro(sd.Time), Seq: sd.Seq}
	if sd.HasFingerprint {
		fp := sd.Fingerprint
		d.Fingerprint, d.Rest = &fp, slices.Clone(sd.Rest)
	}
	return d
}

// GetEach calls fn for each document whose ID is in ids, with its index in ids. It proceeds in
// storage order, so that a block shared by several documents is read and decompressed once. IDs
// that do not exist are skipped. It returns the first error of fn, ErrClosed, *CorruptionError, or
// the error of the context.
func (s *Snapshot) GetEach(ctx context.Context, ids []string, fn func(i int, d Doc) error) error {
	return s.v.EachPlace(ctx, ids, func(i int, p view.Place, text, fields []byte) error {
		d := Doc{ID: ids[i], Text: string(text), Fields: bytes.Clone(fields)}
		err := s.v.Safely(ctx, func() error { return s.read(&d, p) })
		if err != nil {
			return err
		}
		return fn(i, d)
	})
}

// ContentEach is GetEach for texts and fields alone: fn receives the stored bytes themselves, which
// are valid only during the call and must not be changed.
func (s *Snapshot) ContentEach(ctx context.Context, ids []string, fn func(i int, text, fields []byte) error) error {
	return s.v.EachPlace(ctx, ids, func(i int, _ view.Place, text, fields []byte) error { return fn(i, text, fields) })
}

// Lookup returns the document with this ID without reading its text and fields, or ErrNotFound if
// there is none.
func (s *Snapshot) Lookup(ctx context.Context, id string) (e Entry, err error) {
	err = s.v.Safely(ctx, func() error {
		p, err := s.v.Locate(id)
		if err == nil {
			var found view.Entry
			if found, err = p.Entry(); err == nil {
				found.Fingerprints, err = s.v.Fingerprints(id)
			}
			e = Entry(found)
		}
		return err
	})
	return e, err
}

// The methods below answer from a Snapshot created when they are called, or when their iteration
// begins. They return ErrClosed once the DB is closed; other errors are those of the Snapshot's
// methods.

// Get returns the document with this ID as it is now, or ErrNotFound if there is none.
func (db *DB) Get(ctx context.Context, id string) (Doc, error) {
	return withSnapshot(db, func(s *Snapshot) (Doc, error) { return s.Get(ctx, id) })
}

// Count returns the result of Snapshot.Count.
func (db *DB) Count(ctx context.Context, since ...time.Time) (int64, error) {
	return withSnapshot(db, func(s *Snapshot) (int64, error) { return s.Count(ctx, since...) })
}

// Search yields the results of Snapshot.Search for the database as it is when the iteration begins.
func (db *DB) Search(ctx context.Context, doc Doc, by Criterion, o ...*SearchOptions) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Search(ctx, doc, by, o...) })
}

// Jaccard yields every document whose estimated Jaccard similarity to doc is t or more, 0 < t
// <= 1: the most similar first, then by ID. The query is doc.Text, or, if that is empty, the
// stored document doc.ID. Errors are those of Snapshot.Search.
func (db *DB) Jaccard(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Search(ctx, doc, Jaccard(t)) })
}

// Pairs yields every pair of documents that match by the criterion, the best match first, then by
// A, then by B. Snapshot.Pairs describes the memory it needs; pairs that exceed it are ErrTooLarge.
func (db *DB) Pairs(ctx context.Context, by Criterion, o ...*PairOptions) iter.Seq2[Pair, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Pair, error] { return s.Pairs(ctx, by, o...) })
}

// Clusters yields the members of all clusters of two or more documents that match by the criterion:
// the largest cluster first, in each the keeper first, then by ID.
func (db *DB) Clusters(ctx context.Context, by Criterion, o ...*ClusterOptions) iter.Seq2[Member, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Member, error] { return s.Clusters(ctx, by, o...) })
}

func withSnapshot[T any](db *DB, fn func(*Snapshot) (T, error)) (T, error) {
	s, err := db.Snapshot()
	if err != nil {
		var zero T
		return zero, err
	}
	defer s.Close()
	return fn(s)
}

func iterSnapshot[T any](db *DB, fn func(*Snapshot) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		s, err := db.Snapshot()
		if err != nil {
			var zero T
			yield(zero, err)
			return
		}
		defer s.Close()
		fn(s)(yield)
	}
}
