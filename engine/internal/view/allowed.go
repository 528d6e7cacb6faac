package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
)

// Ordered returns the pair with the lesser ID first, or why it is none.
func (p IDPair) Ordered() (IDPair, error) {
	for _, id := range []string{p.A, p.B} {
		if err := CheckID(id); err != nil {
			return p, err
		}
	}
	if p.A == p.B {
		return p, fmt.Errorf("a pair of document %s with itself: %w", files.QuoteID(p.A), files.ErrInvalid)
	}
	if p.A > p.B {
		p.A, p.B = p.B, p.A
	}
	return p, nil
}

// ComparePairs orders pairs by A, then by B.
func ComparePairs(p, q IDPair) int {
	return cmp.Or(strings.Compare(p.A, q.A), strings.Compare(p.B, q.B))
}

// AllowedPairs is a set of pairs of IDs. It is never changed: a snapshot keeps the one that it was
// taken with.
type AllowedPairs struct {
	Partners map[string][]string // of each ID in a pair, the other ones, sorted
}

// Has reports whether two IDs are an allowed pair, in either order.
func (a *AllowedPairs) Has(x, y string) bool {
	_, ok := slices.BinarySearch(a.Partners[x], y)
	return ok
}

// Involves reports whether an ID is in any pair.
func (a *AllowedPairs) Involves(id string) bool { return len(a.Partners[id]) > 0 }

// Empty reports whether the set has no pair.
func (a *AllowedPairs) Empty() bool { return len(a.Partners) == 0 }

// All returns the pairs, each once, in order.
func (a *AllowedPairs) All() []IDPair {
	var pairs []IDPair
	for _, x := range slices.Sorted(maps.Keys(a.Partners)) {
		for _, y := range a.Partners[x] {
			if x < y {
				pairs = append(pairs, IDPair{x, y})
			}
		}
	}
	return pairs
}

// With returns the set and pairs together.
func (a *AllowedPairs) With(pairs []IDPair) *AllowedPairs {
	return a.edited(pairs, func(partners []string, id string) []string {
		if at, ok := slices.BinarySearch(partners, id); !ok {
			return slices.Insert(partners, at, id)
		}
		return partners
	})
}

// Without returns the set without pairs.
func (a *AllowedPairs) Without(pairs []IDPair) *AllowedPairs {
	return a.edited(pairs, func(partners []string, id string) []string {
		if at, ok := slices.BinarySearch(partners, id); ok {
			return slices.Delete(partners, at, at+1)
		}
		return partners
	})
}

// edited returns a copy of the set in which edit has changed the partners of both IDs of each pair.
func (a *AllowedPairs) edited(pairs []IDPair, edit func(partners []string, id string) []string) *AllowedPairs {
	if len(pairs) == 0 {
		return a
	}
	n := &AllowedPairs{Partners: maps.Clone(a.Partners)}
	if n.Partners == nil {
		n.Partners = map[string][]string{}
	}
	own := map[string]bool{} // IDs whose partners have been copied
	change := func(x, y string) {
		partners := n.Partners[x]
		if !own[x] {
			partners, own[x] = slices.Clone(partners), true
		}
		if partners = edit(partners, y); len(partners) == 0 {
			delete(n.Partners, x)
		} else {
			n.Partners[x] = partners
		}
	}
	for _, p := range pairs {
		change(p.A, p.B)
		change(p.B, p.A)
	}
	return n
}

// CatalogPairs returns pairs as the catalog has them.
func CatalogPairs(pairs []IDPair) []catalog.IDPair {
	out := make([]catalog.IDPair, len(pairs))
	for i, p := range pairs {
		out[i] = catalog.IDPair(p)
	}
	return out
}
