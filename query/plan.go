package query

import (
	"math"
	"slices"
)

// plan is how a selection is carried out: which drivers are asked (more than one: their union), and whether what they
// yield already comes in the order asked for, so that rows can be passed on as they are found and LIMIT can stop early.
type plan struct {
	drivers []*leaf
	streams bool
}

// asked says how the documents of a driver are taken. The zero value is in any order, all.
type asked struct {
	ordered bool // in the driver's order
	first   int  // if not 0, no more than so many, from the first on
}

// asked returns how a plan takes the documents of its drivers.
func (p plan) asked(sel *selection) asked {
	a := asked{ordered: p.streams}
	if _, alone := sel.expr.(*leaf); alone && p.streams {
		a.first = max(sel.first(), 0)
	}
	return a
}

// Estimated nanoseconds of one range looked up in a permuted table.
const probeCost = 100

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
		switch l.measures() {
		case distanceMeasure:
			distances++
		case scoreMeasure, exactMeasure:
			scores++
		}
	}
	id := orderKey{by: "id"}
	switch drivers[0].predicate.(driver).order() {
	case byID:
		p.streams = slices.Equal(sel.order, []orderKey{id})
	case byDistance:
		p.streams = distances == 1 && slices.Equal(sel.order, []orderKey{{by: "distance"}, id})
	case byScore:
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
		d, ok := n.predicate.(driver)
		if !ok || n.negated {
			return nil, math.Inf(1)
		}
		if free {
			return []*leaf{n}, 0
		}
		return []*leaf{n}, d.cost(x)
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
	slices.SortStableFunc(terms, func(a, b node) int { return testCost(a) - testCost(b) })
}

// testCost ranks what testing n on one document costs: that of the last term, as terms are sorted.
func testCost(n node) int {
	switch n := n.(type) {
	case andNode:
		return testCost(n[len(n)-1])
	case orNode:
		return testCost(n[len(n)-1])
	}
	return n.(*leaf).testCost()
}

// nearCost estimates the cost of NEAR from the engine's own plan for it.
func (x *run) nearCost(fp uint64, k int) float64 {
	p, err := x.snap.PlanNear(fp, k)
	if err != nil {
		return 0 // the query itself will say why
	}
	sum := 0.0
	for _, part := range p.Parts {
		if part.Method == "scan" {
			sum += float64(part.Documents)
		} else {
			sum += probeCost*float64(part.Probes) + float64(part.Candidates)
		}
	}
	return sum
}

// documents is how many documents there are, roughly.
func (x *run) documents() float64 {
	if x.docs == nil {
		sum := 0.0
		if p, err := x.snap.PlanNear(0, 0); err == nil {
			for _, part := range p.Parts {
				sum += float64(part.Documents)
			}
		}
		x.docs = &sum
	}
	return *x.docs
}
