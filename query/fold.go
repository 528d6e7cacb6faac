package query

import "github.com/simdb/simdb/query/internal/predicate"

// fold returns n with one leaf in place of those terms of an AND or OR that text and fields decide,
// which are then read once.
func fold(n node) node {
	var kept []node
	var content []predicate.Predicate
	var at int // of the leaf in kept
	terms, or := n.(orNode)
	if !or {
		and, ok := n.(andNode)
		if !ok {
			return n
		}
		terms = orNode(and)
	}
	for _, t := range terms {
		t = fold(t)
		if l, ok := t.(*leaf); ok && predicate.OfContent(l.Predicate) {
			if content = append(content, l.Predicate); len(content) > 1 {
				continue
			}
			at = len(kept)
		}
		kept = append(kept, t)
	}
	if len(content) > 1 {
		kept[at] = &leaf{Predicate: predicate.Join(content, or)}
	}
	switch {
	case len(kept) == 1:
		return kept[0]
	case or:
		return orNode(kept)
	}
	return andNode(kept)
}

// number adds the leaves of n to the predicates.
func (sel *selection) number(n node) {
	switch n := n.(type) {
	case andNode:
		for _, t := range n {
			sel.number(t)
		}
	case orNode:
		for _, t := range n {
			sel.number(t)
		}
	case *leaf:
		n.number = len(sel.predicates)
		sel.predicates = append(sel.predicates, n)
	}
}
