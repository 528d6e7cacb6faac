package engine

import (
	"cmp"
	"context"

	"github.com/simdb/simdb/engine/internal/loader"
)

// A Loader adds many documents at once: it fingerprints them in parallel, sorts them and writes
// them directly to tables, without the log. Documents become visible and safe one table at a time,
// and count as written then; published documents remain if the process dies. While one table is
// written, the documents of the next are collected. One goroutine at a time may use a Loader; the
// database can be read and written meanwhile, and other loaders may run. Tables are merged when
// sixteen have been written, then thirty-two, and at the end.
type Loader struct{ l *loader.Loader }

// NewLoader starts a load. It must be ended by Close or Abort. The context applies to the whole
// load: once it has ended, the Loader's methods return its error. Other errors are ErrReadOnly,
// ErrClosed and ErrFailed.
func (db *DB) NewLoader(ctx context.Context, o *LoadOptions) (*Loader, error) {
	l, err := loader.New(ctx, db.s, loader.Options(*cmp.Or(o, &LoadOptions{})))
	if err != nil {
		return nil, err
	}
	return &Loader{l}, nil
}

// Marked returns the last position in source that a Loader of this database marked and published,
// or 0 if there is none.
func (l *Loader) Marked(source string) int64 { return l.l.Marked(source) }

// Add adds d. If its ID is stored or was added before, and Replace is off, Add returns ErrExists.
// The load continues after ErrExists, ErrInvalid and ErrTooLarge; any other error ends it.
func (l *Loader) Add(d Doc) error {
	inner := d.inner()
	return l.l.Add(&inner)
}

// Mark records that the documents added so far are those of source up to pos. Once they are
// published Marked returns pos, so that an interrupted load can continue there.
func (l *Loader) Mark(source string, pos int64) { l.l.Mark(source, pos) }

// Close publishes all added documents and ends the load.
func (l *Loader) Close() (LoadStats, error) {
	stats, err := l.l.Close()
	return LoadStats(stats), err
}

// Abort ends the load. Published documents stay, the others are dropped.
func (l *Loader) Abort() LoadStats { return LoadStats(l.l.Abort()) }
