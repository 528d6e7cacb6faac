package query

import (
	"math"
	"slices"

	"github.com/simdb/simdb/query/internal/predicate"
)

// plan is how a selection is carried out: which drivers are asked (more than one: their union), and whether what they
// yield already comes in the order asked for, so that rows can be passed on as they are found and LIMIT can stop early.
type plan struct {
	drivers []*leaf
	streams bool
}

// options returns how a plan reads the documents of its drivers.
func (p plan) options(sel *selection) predicate.ListOptions {
	o := predicate.ListOptions{Ordered: p.streams}
	if _, alone := sel.expr.(*leaf); alone && p.streams {
		o.First = max(sel.first(), 0)
	}
	return o
}

// planFor chooses the drivers of a selection, and sorts the terms of each AND so that cheap tests come first.
func (x *run) planFor(sel *selection) plan {
	sortTests(sel.expr)
	drivers, _ := x.choose(sel.expr, true)
	p := plan{drivers: drivers}
	if len(drivers) != 1 {
		return p
	}
	distances, scores := 0, 0
	for _, l := range sel.predicates {
		if l.negated {
			continue
		}
		switch l.Measure() {
		case predicate.Distance:
			distances++
		case predicate.Score, predicate.ExactScore:
			scores++
		}
	}
	id := orderKey{by: "id"}
	switch drivers[0].Predicate.(predicate.Driver).Order() {
	case predicate.ByID:
		p.streams = slices.Equal(sel.order, []orderKey{id})
	case predicate.ByDistance:
		p.streams = distances == 1 && slices.Equal(sel.order, []orderKey{{by: "distance"}, id})
	case predicate.ByScore:
		p.streams = scores == 1 && slices.Equal(sel.order, []orderKey{{by: "score", desc: true}, id})
	}
	return p
}

// choose returns the cheapest set of drivers whose union includes all documents that satisfy n, and what it costs; nil
// if there is none. Where the caller has no choice it passes free, and is told nothing about costs: to know its own, NEAR
// must plan the query.
func (x *run) choose(n node, free bool) ([]*leaf, float64) {
	switch n := n.(type) {
	case *leaf:
		d, ok := n.Predicate.(predicate.Driver)
		if !ok || n.negated {
			return nil, math.Inf(1)
		}
		if free {
			return []*leaf{n}, 0
		}
		return []*leaf{n}, d.Cost(x.Scope)
	case orNode:
		var all []*leaf
		sum := 0.0
		for _, t := range n {
			leaves, cost := x.choose(t, free)
			if leaves == nil {
				return nil, math.Inf(1)
			}
			all, sum = append(all, leaves...), sum+cost
		}
		return all, sum
	}
	terms := n.(andNode)
	choices := 0
	for _, t := range terms {
		if drivable(t) {
			choices++
		}
	}
	var best []*leaf
	least := math.Inf(1)
	for _, t := range terms {
		if leaves, cost := x.choose(t, free && choices == 1); leaves != nil && (best == nil || cost < least) {
			best, least = leaves, cost
		}
	}
	return best, least
}

// sortTests orders the terms of each AND and OR by what testing them on one document costs.
func sortTests(n node) {
	var terms []node
	switch n := n.(type) {
	case andNode:
		terms = n
	case orNode:
		terms = n
	}
	for _, t := range terms {
		sortTests(t)
	}
	slices.SortStableFunc(terms, func(a, b node) int { return int(testCost(a) - testCost(b)) })
}

// testCost ranks what testing n on one document costs: that of the last term, as terms are sorted.
func testCost(n node) predicate.TestCost {
	switch n := n.(type) {
	case andNode:
		return testCost(n[len(n)-1])
	case orNode:
		return testCost(n[len(n)-1])
	}
	return n.(*leaf).TestCost()
}
