package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/google/btree"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
)

// Ordered returns the pair with the smaller ID first. It returns an error if the IDs are invalid or
// equal.
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

// AllowedPairs is an immutable set of pairs of IDs, each stored in both orders. A set and one
// derived from it share all nodes except the paths to their differences.
type AllowedPairs struct{ tree btree.BTreeG[IDPair] }

// pairDegree is half the maximum number of pairs in a node. An edit copies whole nodes; smaller
// nodes need more memory per pair.
const pairDegree = 16

// first returns the smallest pair that is not less than p, or a zero pair.
func (a *AllowedPairs) first(p IDPair) (found IDPair) {
	a.tree.AscendGreaterOrEqual(p, func(q IDPair) bool {
		found = q
		return false
	})
	return found
}

// Has reports whether two IDs are an allowed pair, in either order.
func (a *AllowedPairs) Has(x, y string) bool {
	return a.tree.Has(IDPair{x, y})
}

// Involves reports whether an ID is in any pair.
func (a *AllowedPairs) Involves(id string) bool { return a.first(IDPair{A: id}).A == id }

// Empty reports whether the set is empty.
func (a *AllowedPairs) Empty() bool { return a.tree.Len() == 0 }

// IDs returns the IDs of all pairs, in order.
func (a *AllowedPairs) IDs() (ids []string) {
	a.tree.Ascend(func(p IDPair) bool {
		if len(ids) == 0 || ids[len(ids)-1] != p.A {
			ids = append(ids, p.A)
		}
		return true
	})
	return ids
}

// All returns all pairs in order, each once with the smaller ID first.
func (a *AllowedPairs) All() (pairs []IDPair) {
	a.tree.Ascend(func(p IDPair) bool {
		if p.A < p.B {
			pairs = append(pairs, p)
		}
		return true
	})
	return pairs
}

// With returns the union of the set and pairs.
func (a *AllowedPairs) With(pairs []IDPair) *AllowedPairs {
	return a.edited(pairs, func(t *btree.BTreeG[IDPair], p IDPair) { t.ReplaceOrInsert(p) })
}

// Without returns the set without pairs.
func (a *AllowedPairs) Without(pairs []IDPair) *AllowedPairs {
	return a.edited(pairs, func(t *btree.BTreeG[IDPair], p IDPair) { t.Delete(p) })
}

// edited returns a copy of the set, after applying change to each pair in both orders.
func (a *AllowedPairs) edited(pairs []IDPair, change func(*btree.BTreeG[IDPair], IDPair)) *AllowedPairs {
	if len(pairs) == 0 {
		return a
	}
	tree := btree.NewG(pairDegree, func(p, q IDPair) bool { return ComparePairs(p, q) < 0 })
	if own := a.tree; own.Len() > 0 {
		tree = own.Clone() // Clone also writes to the tree it copies, which must not be one that others read
	}
	for _, p := range pairs {
		change(tree, p)
		change(tree, IDPair{p.B, p.A})
	}
	return &AllowedPairs{*tree}
}

// CatalogPairs converts pairs to the type of package catalog.
func CatalogPairs(pairs []IDPair) []catalog.IDPair {
	out := make([]catalog.IDPair, len(pairs))
	for i, p := range pairs {
		out[i] = catalog.IDPair(p)
	}
	return out
}
