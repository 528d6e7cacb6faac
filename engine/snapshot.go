package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

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
		if err := p.Document(&sd); err != nil {
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
