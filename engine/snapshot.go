package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// Snapshot is the database as it was at one moment: it sees every write acknowledged before it was
// taken and none after. It costs next to nothing, blocks nobody, and keeps the files it needs until
// it is closed. All methods may be called from many goroutines.
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

// Seq returns the number of the last write that the snapshot sees.
func (s *Snapshot) Seq() uint64 { return s.v.Seq }

// Get returns the document with this ID whole; ErrNotFound if there is none.
func (s *Snapshot) Get(ctx context.Context, id string) (d Doc, err error) {
	err = s.v.Safely(ctx, func() error {
		p, err := s.v.Locate(id)
		if err != nil {
			return err
		}
		var sd sstable.Document
		if err := p.WithoutSketch(&sd); err != nil {
			return err
		}
		d = docOf(id, &sd)
		return nil
	})
	return d, err
}

// docOf returns a copy of a stored document.
func docOf(id string, sd *sstable.Document) Doc {
	d := Doc{ID: id, Text: string(sd.Text), Fields: json.RawMessage(bytes.Clone(sd.Fields)), Time: time.UnixMicro(sd.Time)}
	if sd.HasFingerprint {
		fp := sd.Fingerprint
		d.Fingerprint = &fp
	}
	return d
}

// GetEach calls fn for each of the documents with these IDs, whole, with its index in ids: in the
// order in which they are stored, so that what they have in common is read and decompressed once.
// IDs that are not there are left out. It returns the first error of fn, ErrClosed,
// *CorruptionError, or the error of the context.
func (s *Snapshot) GetEach(ctx context.Context, ids []string, fn func(i int, d Doc) error) error {
	return search.EachPlace(ctx, &s.v, ids, func(i int, sd *sstable.Document) error { return fn(i, docOf(ids[i], sd)) })
}

// Lookup returns what the indexes know of the document with this ID, without reading its text;
// ErrNotFound if there is none.
func (s *Snapshot) Lookup(ctx context.Context, id string) (e Entry, err error) {
	err = s.v.Safely(ctx, func() error {
		p, err := s.v.Locate(id)
		if err == nil {
			var found view.Entry
			found, err = p.Entry()
			e = Entry(found)
		}
		return err
	})
	return e, err
}
