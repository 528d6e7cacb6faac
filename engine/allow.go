package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/view"
)

// IDPair is the IDs of two documents. The order of the two has no meaning.
type IDPair struct{ A, B string }

// Allow notes that the two documents of each pair may be alike, and that neither is a duplicate of
// the other. From then on Clusters puts neither under the other and PutNovel does not turn one away
// because of the other; Near, Jaccard and Pairs, which say what is alike, still find them. What is
// noted are IDs: it holds for whatever is stored under them, now or later, until Unallow. Pack
// takes the list along and Ingest adds it to that of the database. All pairs are durable when Allow
// returns nil, and none is noted otherwise. A pair that is noted already changes nothing. An ID
// paired with itself is ErrInvalid.
func (db *DB) Allow(ctx context.Context, pairs ...IDPair) error {
	return db.s.Allow(ctx, viewPairs(pairs))
}

// Unallow takes back Allow. ErrNotFound if one of the pairs is not noted; then none is taken back.
func (db *DB) Unallow(ctx context.Context, pairs ...IDPair) error {
	return db.s.Unallow(ctx, viewPairs(pairs))
}

func viewPairs(pairs []IDPair) []view.IDPair {
	out := make([]view.IDPair, len(pairs))
	for i, p := range pairs {
		out[i] = view.IDPair(p)
	}
	return out
}

// Allowed yields the pairs that Allow had noted when the snapshot was taken, the lesser ID first,
// in order.
func (s *Snapshot) Allowed() iter.Seq[IDPair] { return yieldAllowed(s.v.Allowed) }

// IsAllowed reports whether Allow had noted the documents with these two IDs when the snapshot was
// taken.
func (s *Snapshot) IsAllowed(a, b string) bool { return s.v.Allowed.Has(a, b) }

func yieldAllowed(set *view.AllowedPairs) iter.Seq[IDPair] {
	return func(yield func(IDPair) bool) {
		for _, p := range set.All() {
			if !yield(IDPair(p)) {
				return
			}
		}
	}
}
