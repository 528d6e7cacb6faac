package query

import (
	"math"
	"slices"

	"github.com/simdb/simdb/query/internal/predicate"
)

// plan is how a selection is executed: the union of its drivers lists the candidates. It streams if
// the driver yields in the order of the selection: then rows need no sort, and LIMIT stops early.
type plan struct {
	drivers []*leaf
	fused   []*leaf // terms of an AND that the only driver decides while it lists
	streams bool
}

// options returns how a plan reads the documents of its drivers.
func (p plan) options(sel *selection) predicate.ListOptions {
	o := predicate.ListOptions{Ordered: p.streams}
	for _, l := range p.fused {
		o.Also = append(o.Also, l.Predicate.(predicate.Filter))
	}
	if p.decides(sel) {
		if o.IDsOnly = !sel.times; p.streams {
			o.First = max(sel.first(), 0)
		}
	}
	return o
}

// decides reports whether nothing is left to test on the documents that the drivers list.
func (p plan) decides(sel *selection) bool {
	if terms, ok := sel.expr.(andNode); ok {
		return len(p.drivers) == 1 && len(terms) == 1+len(p.fused)
	}
	_, alone := sel.expr.(*leaf)
	return alone
}

// planFor chooses the drivers of a selection, and sorts the terms of each AND and OR by the cost of
// their tests.
func (x *run) planFor(sel *selection) plan {
	sortTests(sel.expr)
	drivers, _ := x.choose(sel.expr, true)
	p := plan{drivers: drivers}
	if len(drivers) != 1 {
		return p
	}
	p.fused = sel.fused(drivers[0])
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

// fused returns the terms of an AND that the only driver decides while it lists.
func (sel *selection) fused(driver *leaf) (fused []*leaf) {
	terms, _ := sel.expr.(andNode)
	for _, t := range terms {
		if l, ok := t.(*leaf); ok && l != driver && !l.negated && predicate.Fuses(driver.Predicate, l.Predicate) {
			fused = append(fused, l)
		}
	}
	return fused
}

// choose returns the cheapest set of drivers whose union includes all documents that satisfy n, and
// its cost; nil if there is none. A caller without an alternative passes free, and gets no cost: to
// estimate it, NEAR would have to plan its search.
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

// sortTests sorts the terms of each AND and OR by the cost of their tests.
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

// testCost returns the cost of testing n: that of the last term, as terms are sorted.
func testCost(n node) predicate.TestCost {
	switch n := n.(type) {
	case andNode:
		return testCost(n[len(n)-1])
	case orNode:
		return testCost(n[len(n)-1])
	}
	return n.(*leaf).TestCost()
}
