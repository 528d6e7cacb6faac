package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
)

// Entries yields every visible document whose ID starts with prefix, in order of ID. It finds them
// page by page, each page in one walk over all documents: a short first one, so that the first
// entries cost no sort, then as many as Options.Memory has room for. The error, which is the last
// thing yielded, is ErrClosed, *CorruptionError, or that of the context.
func (s *Snapshot) Entries(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return s.entries(ctx, prefix, search.FirstPage, s.v.Most(2*search.EntryBytes))
}

// entries is Entries with pages of the given lengths: the first, and those after it.
func (s *Snapshot) entries(ctx context.Context, prefix string, first, others int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := search.EachEntryInOrder(ctx, &s.v, prefix, first, others, func(e view.Entry) bool { return yield(Entry(e), nil) })
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// EntriesUnordered yields what Entries does as documents are found, without holding them: in no
// particular order, though always in the same.
func (s *Snapshot) EntriesUnordered(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := search.EachEntry(ctx, &s.v, prefix, func(e view.Entry) bool { return yield(Entry(e), nil) })
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// Count returns how many visible documents there are.
func (s *Snapshot) Count(ctx context.Context) (int64, error) { return search.Count(ctx, &s.v) }
