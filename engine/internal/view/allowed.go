package view

import (
	"cmp"
	"fmt"
	"hash/maphash"
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
// taken with. A set and one made of it share all but the paths to what differs.
type AllowedPairs struct{ root *pairNode }

// A pairNode is one of a treap: in the order of pairs from left to right, and with no higher rank
// below. Ranks are hashes, so that the tree is about balanced. Each pair is there in both orders.
type pairNode struct {
	IDPair
	rank  uint64
	below [2]*pairNode // before it and after it
	edit  *bool        // the edit that made the node, and may change it
}

var pairSeed = maphash.MakeSeed()

// own returns the node, or a copy if another edit has made it.
func (n *pairNode) own(edit *bool) *pairNode {
	if n.edit == edit {
		return n
	}
	c := *n
	c.edit = edit
	return &c
}

// with returns the tree with a pair.
func (n *pairNode) with(p IDPair, edit *bool) *pairNode {
	if n == nil {
		return &pairNode{IDPair: p, rank: maphash.Comparable(pairSeed, p), edit: edit}
	}
	c := ComparePairs(p, n.IDPair)
	if c == 0 {
		return n
	}
	n, side := n.own(edit), side(c)
	if n.below[side] = n.below[side].with(p, edit); n.below[side].rank > n.rank {
		up := n.below[side].own(edit)
		n.below[side], up.below[1-side] = up.below[1-side], n
		return up
	}
	return n
}

// side is where a pair is below a node that it compares with as c says.
func side(c int) int { return (c + 1) / 2 }

// without returns the tree without a pair.
func (n *pairNode) without(p IDPair, edit *bool) *pairNode {
	if n == nil {
		return nil
	}
	c := ComparePairs(p, n.IDPair)
	if c == 0 {
		return joined(n.below[0], n.below[1], edit)
	}
	n = n.own(edit)
	n.below[side(c)] = n.below[side(c)].without(p, edit)
	return n
}

// joined returns the tree of two, all of a before all of b.
func joined(a, b *pairNode, edit *bool) *pairNode {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.rank > b.rank:
		a = a.own(edit)
		a.below[1] = joined(a.below[1], b, edit)
		return a
	}
	b = b.own(edit)
	b.below[0] = joined(a, b.below[0], edit)
	return b
}

// each calls f for the pairs of a tree in order.
func (n *pairNode) each(f func(IDPair)) {
	if n != nil {
		n.below[0].each(f)
		f(n.IDPair)
		n.below[1].each(f)
	}
}

// first returns the least pair that is not less than p, or nil.
func (a *AllowedPairs) first(p IDPair) (found *pairNode) {
	for n := a.root; n != nil; {
		if ComparePairs(p, n.IDPair) <= 0 {
			found, n = n, n.below[0]
		} else {
			n = n.below[1]
		}
	}
	return found
}

// Has reports whether two IDs are an allowed pair, in either order.
func (a *AllowedPairs) Has(x, y string) bool {
	n := a.first(IDPair{x, y})
	return n != nil && n.A == x && n.B == y
}

// Involves reports whether an ID is in any pair.
func (a *AllowedPairs) Involves(id string) bool {
	n := a.first(IDPair{A: id})
	return n != nil && n.A == id
}

// Empty reports whether the set has no pair.
func (a *AllowedPairs) Empty() bool { return a.root == nil }

// IDs returns the IDs in any pair, in order.
func (a *AllowedPairs) IDs() (ids []string) {
	a.root.each(func(p IDPair) {
		if len(ids) == 0 || ids[len(ids)-1] != p.A {
			ids = append(ids, p.A)
		}
	})
	return ids
}

// All returns the pairs, each once, in order.
func (a *AllowedPairs) All() (pairs []IDPair) {
	a.root.each(func(p IDPair) {
		if p.A < p.B {
			pairs = append(pairs, p)
		}
	})
	return pairs
}

// With returns the set and pairs together.
func (a *AllowedPairs) With(pairs []IDPair) *AllowedPairs { return a.edited(pairs, (*pairNode).with) }

// Without returns the set without pairs.
func (a *AllowedPairs) Without(pairs []IDPair) *AllowedPairs {
	return a.edited(pairs, (*pairNode).without)
}

// edited returns the set after change of each pair, in both orders.
func (a *AllowedPairs) edited(pairs []IDPair, change func(*pairNode, IDPair, *bool) *pairNode) *AllowedPairs {
	n := &AllowedPairs{a.root}
	edit := new(bool)
	for _, p := range pairs {
		n.root = change(change(n.root, p, edit), IDPair{p.B, p.A}, edit)
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
