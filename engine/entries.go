package engine

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
)

// An EntryFilter selects documents. The zero value selects all.
type EntryFilter struct {
	Prefix    string    // of the ID
	Since     time.Time // stored then or later; zero for any time
	Limit     int       // how many will be taken, at most; 0 if that is not known
	Unordered bool      // give them as they are found, without holding them, not in order of ID
	OnlyIDs   bool      // entries have no more than the ID: nothing else is read
	// Match, if not nil, decides on a document by its ID, which is valid while it runs and must not
	// be changed. An error ends the iteration. It may run more than once for an ID.
	Match func(id []byte) (bool, error)
	// Where, if not nil, decides on a document by its text and its fields, a JSON object or
	// nothing. Both are valid, and must not be changed, while it runs. An error ends the iteration.
	// If Unordered, it runs right before the document is given; else in no order, and maybe for
	// documents that are not given.
	Where func(text, fields []byte) (bool, error)
}

// Entries yields every visible document that f selects. It holds a part of them at a time, or
// none if they are not ordered, and does not look for what follows the last one taken.
//
// By time alone, it reads the times of tables that have older documents, and nothing of those. By
// order or prefix, it reads the IDs of the parts of the order of IDs that it needs. Tables of half
// a million documents and more have that order in the file. Of a smaller one it reads all IDs once:
// the first call that needs it makes it, which takes up to 2 bytes a document until the table is
// merged or the database closed. Calls for few, or for a prefix without order, look through all IDs
// until that is done, which the second of them begins.
//
// With Where it reads the texts of the documents that f selects otherwise, in the order in which
// they lie. In order of ID it begins with each text where its ID comes, for a share of a table's
// documents that is larger if there is a Limit; only if that was not enough it reads the others of
// that table, at once, and holds at most a bit a document meanwhile.
//
// The error, which is the last thing yielded, is ErrClosed, *CorruptionError, that of the context,
// or that of Where.
func (s *Snapshot) Entries(ctx context.Context, f EntryFilter) iter.Seq2[Entry, error] {
	return s.entries(ctx, f, search.FirstPage, s.v.Most(2*search.EntryBytes))
}

// entries is Entries with pages of the given lengths: the first of a table, and those after
// it, of all tables together.
func (s *Snapshot) entries(ctx context.Context, f EntryFilter, first, others int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := s.each(ctx, f, first, others, func(id []byte, p view.Place) (more bool, err error) {
			if f.OnlyIDs {
				return yield(Entry{ID: string(id)}, nil), nil
			}
			var e view.Entry
			err = s.v.Safely(ctx, func() (err error) {
				if e, err = p.EntryOf(string(id)); err == nil {
					e.Fingerprints, err = s.v.Fingerprints(e.ID)
				}
				return err
			})
			return err == nil && yield(Entry(e), nil), err
		})
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// each calls fn for the visible documents that f selects until it returns false.
func (s *Snapshot) each(ctx context.Context, f EntryFilter, first, others int, fn func(id []byte, p view.Place) (bool, error)) error {
	if !f.Unordered {
		return search.EachInOrder(ctx, &s.v, f.inner(), first, others, fn)
	}
	return search.Each(ctx, &s.v, f.inner(), func(id []byte, p view.Place) error {
		more, err := fn(id, p)
		if err == nil && !more {
			err = view.ErrStopped
		}
		return err
	})
}

// inner returns f as search has it.
func (f EntryFilter) inner() search.Filter {
	in := search.Filter{Prefix: f.Prefix, Since: math.MinInt64, Limit: f.Limit, Match: f.Match, Where: f.Where}
	if !f.Since.IsZero() {
		in.Since = view.Micros(f.Since)
	}
	return in
}

// Count returns how many visible documents were stored at a time or later; the zero time is for
// all. It reads no document; where some may have expired, or by time, it reads times.
func (s *Snapshot) Count(ctx context.Context, since time.Time) (int64, error) {
	if since.IsZero() {
		return search.Count(ctx, &s.v, math.MinInt64)
	}
	return search.Count(ctx, &s.v, view.Micros(since))
}
