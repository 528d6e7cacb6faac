package engine

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/simdb/simdb/engine/internal/catalog"
)

// IDPair is the IDs of two documents. The order of the two has no meaning.
type IDPair struct{ A, B string }

// ordered returns the pair with the lesser ID first, or why it is none.
func (p IDPair) ordered() (IDPair, error) {
	for _, id := range []string{p.A, p.B} {
		if err := checkID(id); err != nil {
			return p, err
		}
	}
	if p.A == p.B {
		return p, fmt.Errorf("a pair of document %s with itself: %w", quoteID(p.A), ErrInvalid)
	}
	if p.A > p.B {
		p.A, p.B = p.B, p.A
	}
	return p, nil
}

// Allow notes that the two documents of each pair may be alike, and that neither is a duplicate of the other. From then
// on Clusters puts neither under the other and PutNovel does not turn one away because of the other; Near, Jaccard and
// Pairs, which say what is alike, still find them. What is noted are IDs: it holds for whatever is stored under them, now
// or later, until Unallow. Pack takes the list along and Ingest adds it to that of the database. All pairs are durable
// when Allow returns nil, and none is noted otherwise. A pair that is noted already changes nothing.
func (db *DB) Allow(ctx context.Context, pairs ...IDPair) error {
	return db.editAllowed(ctx, pairs, func(_ *allowedPairs, in []IDPair) (allow, unallow []IDPair, err error) {
		return in, nil, nil
	})
}

// Unallow takes back Allow. ErrNotFound if one of the pairs is not noted; then none is taken back.
func (db *DB) Unallow(ctx context.Context, pairs ...IDPair) error {
	return db.editAllowed(ctx, pairs, func(have *allowedPairs, in []IDPair) (allow, unallow []IDPair, err error) {
		for _, p := range in {
			if !have.has(p.A, p.B) {
				return nil, nil, fmt.Errorf("documents %s and %s are not an allowed pair: %w", quoteID(p.A), quoteID(p.B), ErrNotFound)
			}
		}
		return nil, in, nil
	})
}

// editAllowed changes the set of allowed pairs in one transaction of the catalog. edit gets the set and the pairs in
// their order, and returns what to add and what to remove.
func (db *DB) editAllowed(ctx context.Context, pairs []IDPair, edit func(*allowedPairs, []IDPair) (allow, unallow []IDPair, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in := make([]IDPair, len(pairs))
	for i, p := range pairs {
		var err error
		if in[i], err = p.ordered(); err != nil {
			return err
		}
	}
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	if err := db.writable(); err != nil {
		return err
	}
	have := db.allowedPairs()
	allow, unallow, err := edit(have, in)
	if err != nil {
		return err
	}
	if err := db.apply(catalog.Edit{Allow: catalogPairs(allow), Unallow: catalogPairs(unallow)}); err != nil {
		return db.fail(err)
	}
	db.mu.Lock()
	db.allowed = have.with(allow).without(unallow)
	db.mu.Unlock()
	return nil
}

func catalogPairs(pairs []IDPair) []catalog.IDPair {
	out := make([]catalog.IDPair, len(pairs))
	for i, p := range pairs {
		out[i] = catalog.IDPair(p)
	}
	return out
}

// allowedPairs returns the list as it is now.
func (db *DB) allowedPairs() *allowedPairs {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.allowed
}

// Allowed yields the pairs that Allow has noted, the lesser ID first, in order.
func (s *Snapshot) Allowed() iter.Seq[IDPair] { return slices.Values(s.allowed.all()) }

// IsAllowed says whether Allow has noted the documents with these two IDs.
func (s *Snapshot) IsAllowed(a, b string) bool { return s.allowed.has(a, b) }

// Allowed yields the pairs that Allow has noted, the lesser ID first, in order.
func (db *DB) Allowed() iter.Seq[IDPair] { return slices.Values(db.allowedPairs().all()) }

// allowedPairs is a set of pairs of IDs. It is never changed: a snapshot keeps the one that it was taken with.
type allowedPairs struct {
	partners map[string][]string // of each ID in a pair, the other ones, sorted
}

func (a *allowedPairs) has(x, y string) bool {
	_, ok := slices.BinarySearch(a.partners[x], y)
	return ok
}

// involves reports whether an ID is in any pair.
func (a *allowedPairs) involves(id string) bool { return len(a.partners[id]) > 0 }

func (a *allowedPairs) empty() bool { return len(a.partners) == 0 }

// all returns the pairs, each once, in order.
func (a *allowedPairs) all() []IDPair {
	var pairs []IDPair
	for _, x := range slices.Sorted(maps.Keys(a.partners)) {
		for _, y := range a.partners[x] {
			if x < y {
				pairs = append(pairs, IDPair{x, y})
			}
		}
	}
	return pairs
}

// with returns the set and pairs together.
func (a *allowedPairs) with(pairs []IDPair) *allowedPairs {
	return a.edited(pairs, func(partners []string, id string) []string {
		if at, ok := slices.BinarySearch(partners, id); !ok {
			return slices.Insert(partners, at, id)
		}
		return partners
	})
}

// without returns the set without pairs.
func (a *allowedPairs) without(pairs []IDPair) *allowedPairs {
	return a.edited(pairs, func(partners []string, id string) []string {
		if at, ok := slices.BinarySearch(partners, id); ok {
			return slices.Delete(partners, at, at+1)
		}
		return partners
	})
}

// edited returns a copy of the set in which edit has changed the partners of both IDs of each pair.
func (a *allowedPairs) edited(pairs []IDPair, edit func(partners []string, id string) []string) *allowedPairs {
	if len(pairs) == 0 {
		return a
	}
	n := &allowedPairs{partners: maps.Clone(a.partners)}
	if n.partners == nil {
		n.partners = map[string][]string{}
	}
	own := map[string]bool{} // IDs whose partners have been copied
	change := func(x, y string) {
		partners := n.partners[x]
		if !own[x] {
			partners, own[x] = slices.Clone(partners), true
		}
		if partners = edit(partners, y); len(partners) == 0 {
			delete(n.partners, x)
		} else {
			n.partners[x] = partners
		}
	}
	for _, p := range pairs {
		change(p.A, p.B)
		change(p.B, p.A)
	}
	return n
}
