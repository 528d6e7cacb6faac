package query

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/simdb/simdb/query/internal/predicate"
)

// plan says how to execute a selection: the union of its drivers lists the candidates. A plan
// streams if its driver yields in the order of the selection: then rows need no sort, and LIMIT
// stops early.
type plan struct {
	drivers []*leaf
	fused   []*leaf // terms of an AND that its single driver decides while it lists
	streams bool

	compared []string // for EXPLAIN: the estimated time of each choice of drivers
}

// options returns the options with which a selection's drivers list documents.
func (sel *selection) options() predicate.ListOptions {
	o := predicate.ListOptions{Ordered: sel.plan.streams}
	for _, l := range sel.plan.fused {
		o.Also = append(o.Also, l.Predicate.(predicate.Filter))
	}
	if sel.decided() {
		if o.IDsOnly = !sel.times; o.Ordered {
			o.First = max(sel.First(), 0)
		}
	}
	return o
}

// decided reports whether the drivers list only documents that satisfy the expression.
func (sel *selection) decided() bool {
	if terms, ok := sel.expr.(andNode); ok {
		return len(sel.plan.drivers) == 1 && len(terms) == 1+len(sel.plan.fused)
	}
	_, alone := sel.expr.(*leaf)
	return alone
}

// planFor chooses the drivers of a selection, and sorts the terms of each AND and OR by test cost.
func (x *run) planFor(sel *selection) {
	sortTests(sel.expr)
	var w way
	if terms, ok := sel.expr.(andNode); ok {
		w = x.chooseTerm(terms, sel, true)
	} else {
		w = x.choose(sel.expr, true)
	}
	sel.plan = plan{drivers: w.drivers, compared: w.compared}
	if len(w.drivers) == 1 {
		sel.plan.fused = sel.fused(w.drivers[0])
		sel.plan.streams = sel.streams(w.drivers[0])
	}
}

// streams reports whether a driver yields in the order of the selection.
func (sel *selection) streams(driver *leaf) bool {
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
	switch driver.Predicate.(predicate.Driver).Order() {
	case predicate.ByID:
		return slices.Equal(sel.order, []orderKey{id})
	case predicate.ByDistance:
		return distances == 1 && slices.Equal(sel.order, []orderKey{{by: "distance"}, id})
	case predicate.ByScore:
		return scores == 1 && slices.Equal(sel.order, []orderKey{{by: "score", desc: true}, id})
	}
	return false
}

// fused returns the terms of an AND that its single driver decides while it lists.
func (sel *selection) fused(driver *leaf) (fused []*leaf) {
	terms, _ := sel.expr.(andNode)
	for _, t := range terms {
		if l, ok := t.(*leaf); ok && l != driver && !l.negated && predicate.Fuses(driver.Predicate, l.Predicate) {
			fused = append(fused, l)
		}
	}
	return fused
}

// A way is a set of drivers whose union includes all documents that satisfy an expression.
type way struct {
	drivers  []*leaf
	cost     float64 // estimate in nanoseconds: to list the documents and, for an AND, to test them
	term     int     // index of the AND's term that the drivers list
	compared []string
}

// choose returns the cheapest way to find the documents that satisfy n, or a way without drivers if
// none exists. A caller without an alternative sets free, and gets no cost: to estimate it, NEAR
// would have to plan its search.
func (x *run) choose(n node, free bool) (w way) {
	switch n := n.(type) {
	case *leaf:
		d, ok := n.Predicate.(predicate.Driver)
		if !ok || n.negated {
			return way{}
		}
		if w.drivers = x.sel.predicates[n.number : n.number+1 : n.number+1]; !free {
			w.cost = d.Cost(x.Scope)
		}
		return w
	case orNode:
		for _, t := range n {
			side := x.choose(t, free)
			if side.drivers == nil {
				return way{}
			}
			w.drivers, w.cost = append(w.drivers, side.drivers...), w.cost+side.cost
		}
		return w
	}
	return x.chooseTerm(n.(andNode), nil, free)
}

// chooseTerm chooses the term of an AND that lists documents for the other terms to test. sel is
// non-nil only if the AND is the whole expression of a selection: then one scan decides all of its
// filters.
func (x *run) chooseTerm(terms andNode, sel *selection, free bool) way {
	choices := 0
	for _, t := range terms {
		if drivable(t) {
			choices++
		}
	}
	var ways []way
	scan := -1 // index in ways of the scan that decides all filters
	for i, t := range terms {
		w := x.choose(t, free && choices == 1)
		if w.term = i; w.drivers == nil {
			continue
		}
		if l, ok := t.(*leaf); ok && sel != nil && predicate.Fuses(l.Predicate, l.Predicate) {
			if scan >= 0 {
				if w.cost < ways[scan].cost {
					ways[scan] = w
				}
				continue
			}
			scan = len(ways)
		}
		ways = append(ways, w)
	}
	if len(ways) < 2 {
		return append(ways, way{})[0]
	}
	slices.SortStableFunc(ways, func(a, b way) int { return cmp.Compare(a.cost, b.cost) })
	best := way{cost: math.Inf(1)}
	var compared []string
	for _, w := range ways {
		least := "more than "
		if w.cost < best.cost {
			least, w.cost = "", w.cost+x.testsAfter(w, terms, sel)
		}
		compared = append(compared, fmt.Sprintf("%s%s by %s", least, time.Duration(w.cost).Round(time.Microsecond), terms[w.term]))
		if w.cost < best.cost {
			best = w
		}
	}
	best.compared = compared
	return best
}

// testsAfter estimates the cost of the remaining tests on the documents that a way of an AND lists.
func (x *run) testsAfter(w way, terms andNode, sel *selection) float64 {
	var fused []*leaf
	var o predicate.ListOptions
	if _, ok := terms[w.term].(*leaf); ok && sel != nil {
		fused = sel.fused(w.drivers[0])
		for _, l := range fused {
			o.Also = append(o.Also, l.Predicate.(predicate.Filter))
		}
	}
	each := 0.0
	for i, t := range terms {
		if l, ok := t.(*leaf); i != w.term && !(ok && slices.Contains(fused, l)) {
			each += testCost(t).Nanoseconds()
		}
	}
	rows := 0.0
	for _, l := range w.drivers {
		if f, ok := l.Predicate.(predicate.Filter); ok && len(o.Also) > 0 {
			rows += x.Selects(f, o)
		} else {
			rows += l.Predicate.(predicate.Driver).Rows(x.Scope)
		}
	}
	if sel != nil && sel.First() >= 0 && len(w.drivers) == 1 && sel.streams(w.drivers[0]) {
		rows = min(rows, testedPerRow*float64(sel.First()+1)) // LIMIT ends it after about this many
	}
	return rows * each
}

// testedPerRow estimates how many documents are tested for each row found.
const testedPerRow = 32

// sortTests sorts the terms of each AND and OR by test cost.
func sortTests(n node) {
	terms := termsOf(n)
	for _, t := range terms {
		sortTests(t)
	}
	slices.SortStableFunc(terms, func(a, b node) int { return int(testCost(a) - testCost(b)) })
}

// testCost returns the cost of testing n, which is the cost of the last term, because terms are
// sorted.
func testCost(n node) predicate.TestCost {
	if terms := termsOf(n); terms != nil {
		return testCost(terms[len(terms)-1])
	}
	return n.(*leaf).TestCost()
}
