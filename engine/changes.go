package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/listing"
	"github.com/simdb/simdb/engine/internal/view"
)

// A Change is a document that was stored in a database, or that has left it.
type Change struct {
	Op  string `json:"op"` // "put", "delete", or "expire" if the document is has expired
	Doc        // of a put the document with Text and Fields; otherwise only ID and Seq are set
}

// How long Changes waits before it looks for further changes.
const (
	shortestPoll = 5 * time.Millisecond
	longestPoll  = time.Second / 2
)

// Changes yields what has changed since the write with the number from, in the order of sequence
// numbers. Who applies every change to a map from IDs to documents, which begins empty with from 0
// or is that of an earlier run, then has the documents of the database. A run ends at any moment,
// and the next one begins at the Seq of the last change that was applied.
//
// Changes yields states, not every write: a document that was stored several times is yielded as it
// was stored last, in the place of that write, and from 0 only stored documents are yielded. It
// yields no write before that is as safe as Options.NoSync says. A document expires without a write:
// its "expire" has the Seq of the last change before it, and may be repeated, also by a later run.
//
// Removals are known as far as Options.History goes. If some after from may be missing, the error is
// ErrExpired, and its text names the oldest number that works: begin again with 0 and an empty map.
// The error is the same if the database has not reached from, as after a backup was restored. Begin
// again, too, where Changes cannot notice it: if the restored database has reached from again, if
// power was lost with Options.NoSync or before a reader's last change was synced, and if the time to
// live was raised, so that expired documents are visible again.
//
// Changes refreshes a DB that was opened read-only. With follow it waits for further changes until
// the context ends: it looks for them after 5 milliseconds, and after up to half a second if there
// are none.
//
// While it yields changes Changes holds a Snapshot. The error, the last value yielded, is
// ErrExpired, ErrClosed, *CorruptionError, ctx.Err(), or an error of Refresh.
func (db *DB) Changes(ctx context.Context, from uint64, follow bool) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		f := &feed{db: db, at: from, last: from, life: view.Always, yield: yield}
		for wait := shortestPoll; ; wait = min(2*wait, longestPoll) {
			before := f.last
			err := cmp.Or(ctx.Err(), db.Refresh(ctx))
			if err == nil {
				err = f.run(ctx)
			}
			if err != nil && !f.stopped {
				yield(Change{}, err)
			}
			if err != nil || f.stopped || !follow {
				return
			}
			if f.last != before {
				wait = shortestPoll
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
	}
}

// A feed is the state of Changes.
type feed struct {
	db      *DB
	at      uint64    // everything up to this number has been yielded
	last    uint64    // Seq of the last change
	life    view.Life // and all documents that had expired in it
	scan    time.Time // when to look for documents that have expired by themselves
	yield   func(Change, error) bool
	stopped bool
}

// give yields a change.
func (f *feed) give(op string, d Doc) error {
	f.last = d.Seq
	if f.stopped = !f.yield(Change{op, d}, nil); f.stopped {
		return view.ErrStopped
	}
	return nil
}

// run yields the changes up to the present.
func (f *feed) run(ctx context.Context) error {
	s, err := f.db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	life := s.v.Life
	removed, err := f.db.s.Removed(&s.v, f.at)
	if err == nil && s.v.Seq > f.at {
		err = f.written(ctx, s, life, removed)
	}
	if err == nil && !f.stopped && f.at > 0 {
		err = f.expired(ctx, s, life)
	}
	f.at = s.v.Seq
	return err
}

// shareOfScans is the inverse of the share of the time in which Changes looks for documents that have
// expired by themselves: it reads when each document of a table expires.
const shareOfScans = 20

// expired yields documents that were yielded as stored, and have expired since.
func (f *feed) expired(ctx context.Context, s *Snapshot, life view.Life) (err error) {
	each := func(filter listing.Filter) error {
		s.v.Life = view.Life{Since: filter.Since, Now: f.life.Now}
		return listing.Each(ctx, &s.v, filter, func(id []byte, p view.Place) error {
			seq, err := p.Seq()
			if err != nil || seq > f.at {
				return err
			}
			if lives, err := p.Lives(life); err != nil || lives {
				return err
			}
			return f.give("expire", Doc{ID: string(id), Seq: f.last})
		})
	}
	if life.Since > f.life.Since {
		err = each(listing.Filter{Life: f.life, Before: life.Since})
		f.life.Since = life.Since
	}
	if start := time.Now(); err == nil && !start.Before(f.scan) && mayHaveEnded(&s.v, life) {
		err = each(listing.Filter{Life: f.life})
		f.life.Now, f.scan = life.Now, time.Now().Add(shareOfScans*time.Since(start))
	}
	return err
}

// mayHaveEnded reports whether a document of v may have expired by itself.
func mayHaveEnded(v *view.View, life view.Life) bool {
	ended := func(d *view.MemDoc) bool { return d.Expires != 0 && d.Expires <= life.Now }
	return slices.ContainsFunc(v.Version.Parts, func(p view.Part) bool { return p.FirstExpiry() <= life.Now }) ||
		slices.ContainsFunc(v.Mems, func(m view.MemView) bool { return slices.ContainsFunc(m.Docs, ended) })
}

// written yields the documents that were stored or removed after f.at.
func (f *feed) written(ctx context.Context, s *Snapshot, life view.Life, removed []catalog.Removal) error {
	removals := func(before uint64) error {
		for ; len(removed) > 0 && removed[0].Seq < before; removed = removed[1:] {
			op := "delete"
			if removed[0].Expired {
				op = "expire"
			}
			if err := f.give(op, Doc{ID: string(removed[0].ID), Seq: removed[0].Seq}); err != nil {
				return err
			}
		}
		return nil
	}
	s.v.Life = view.Always // the expired ones, too
	err := listing.EachWritten(ctx, &s.v, listing.Filter{Life: view.Always, After: f.at}, true, func(id []byte, p view.Place, text, fields []byte) error {
		d := Doc{ID: string(id)}
		if err := s.read(&d, p); err != nil {
			return err
		}
		if err := removals(d.Seq); err != nil {
			return err
		}
		if lives, err := p.Lives(life); err != nil {
			return err
		} else if !lives {
			return f.give("expire", Doc{ID: d.ID, Seq: d.Seq})
		}
		d.Text, d.Fields = string(text), append(json.RawMessage(nil), fields...)
		return f.give("put", d)
	})
	if err == nil && !f.stopped {
		err = removals(math.MaxUint64)
	}
	return err
}
