package engine

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/simdb/simdb/internal/ordered"
)

// firstPage is how many entries are put in order before the first is yielded.
const firstPage = 1024

// Entries yields every visible document whose ID starts with prefix, in order of ID. It finds them
// page by page, each page in one walk over all documents: a short first one, so that the first
// entries cost no sort, then as many as Options.Memory has room for.
func (s *Snapshot) Entries(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return s.entries(ctx, prefix, firstPage, s.db.most(2*entryBytes))
}

// entries is Entries with pages of the given lengths: the first, and those after it.
func (s *Snapshot) entries(ctx context.Context, prefix string, first, others int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var last string
		for length := min(first, others); ; length = others {
			var page *ordered.Runs[named]
			var more bool
			err := s.safely(ctx, func() (err error) {
				page, more, err = s.page(ctx, prefix, last, length)
				return err
			})
			for err == nil {
				n, ok := page.Next()
				if !ok {
					break
				}
				var e Entry
				if err = s.safely(ctx, func() (err error) { e, err = n.entry(); return err }); err == nil {
					if last = e.ID; !yield(e, nil) {
						return
					}
				}
			}
			if err != nil {
				yield(Entry{}, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// A named place is a place with its document's ID, which aliases it.
type named struct {
	id []byte
	place
}

// page returns the first so many visible documents whose IDs start with prefix and follow after (no
// ID is empty), in order of ID, and whether there are more.
func (s *Snapshot) page(ctx context.Context, prefix, after string, length int) (*ordered.Runs[named], bool, error) {
	found := ordered.Limited[named]{Most: length, Compare: func(a, b named) int { return bytes.Compare(a.id, b.id) }}
	err := s.each(ctx, func(p place) error {
		id, err := p.id()
		if err == nil && hasPrefix(id, prefix) && string(id) > after {
			found.Add(named{id, p})
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return found.Sorted(ctx)
}

// EntriesUnordered is Entries as documents are found, without holding them: in no particular order,
// though always in the same.
func (s *Snapshot) EntriesUnordered(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := s.safely(ctx, func() error {
			return s.each(ctx, func(p place) error {
				id, err := p.id()
				if err != nil || !hasPrefix(id, prefix) {
					return err
				}
				e, err := p.entry()
				if err == nil && !yield(e, nil) {
					err = errStopped
				}
				return err
			})
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Entry{}, err)
		}
	}
}

func hasPrefix(id []byte, prefix string) bool {
	return len(id) >= len(prefix) && string(id[:len(prefix)]) == prefix
}

// Count returns how many visible documents there are.
func (s *Snapshot) Count(ctx context.Context) (n int64, err error) {
	err = s.safely(ctx, func() error {
		for i := range s.version.parts {
			p := &s.version.parts[i]
			if s.since <= p.meta.MinTime {
				dead, _ := p.dead.upTo(s.seq)
				n += int64(p.NumDocs()) - int64(dead.GetCardinality())
				continue
			}
			err := s.eachOf(ctx, p, func(place) error { n++; return nil })
			if err != nil {
				return err
			}
		}
		return s.eachMem(func(place) error { n++; return nil })
	})
	return n, err
}
