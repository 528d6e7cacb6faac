package query

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/simdb/simdb/internal/ordered"
)

// result is a document that a selection found.
type result struct {
	id       string
	distance int // -1 if no NEAR or NEAREST holds: it was found by another side of an OR
	scored   bool
	score    float64
	err      float64
	exact    bool
	time     time.Time // if the selection orders by it
}

// mostFirst is the largest LIMIT + OFFSET for which only about that many results are held while they are put in order.
const mostFirst = 1 << 16

// results yields what a selection finds, in its order, within OFFSET and LIMIT.
func (x *run) results(sel *selection, p plan) iter.Seq2[result, error] {
	first := sel.first()
	found := x.found(sel, p, p.asked(sel))
	if !p.streams {
		found = x.sorted(sel, found, first)
	}
	return cutTo(sel.window, found)
}

// found yields what a selection finds, as the drivers find it.
func (x *run) found(sel *selection, p plan, a asked) iter.Seq2[result, error] {
	return func(yield func(result, error) bool) {
		c := &candidate{verdicts: make([]verdict, len(sel.predicates))}
		tested := x.counting("test")
		var seen map[string]struct{}
		if len(p.drivers) > 1 {
			seen = make(map[string]struct{})
		}
		for _, l := range p.drivers {
			for f, err := range l.predicate.(driver).drive(x, a) {
				if err == nil {
					err = x.ctx.Err()
				}
				if err == nil && seen != nil {
					if _, ok := seen[f.id]; ok {
						continue
					}
					seen[f.id] = struct{}{}
					err = x.hold(seenBytes + len(f.id))
				}
				if err != nil {
					yield(result{}, err)
					return
				}
				clear(c.verdicts)
				c.id, c.entry, c.doc = f.id, f.entry, nil
				c.verdicts[l.number] = f.verdict
				if f.entry == nil { // those that are listed have been counted
					tested()
				}
				r, ok, err := x.judge(sel, c)
				if errors.Is(err, errGone) {
					continue
				}
				if (ok || err != nil) && !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// judge tests a candidate, and makes a result of it if it satisfies the expression.
func (x *run) judge(sel *selection, c *candidate) (result, bool, error) {
	if ok, err := x.test(sel.expr, c); err != nil || !ok {
		return result{}, false, err
	}
	r := result{id: c.id, distance: -1}
	best := noMeasure
	for _, l := range sel.predicates {
		m := l.measures()
		if l.negated || m == noMeasure {
			continue
		}
		v, err := x.ask(l, c)
		if err != nil {
			return result{}, false, err
		}
		if !v.holds {
			continue
		}
		if m == distanceMeasure {
			if r.distance < 0 || v.match.Distance < r.distance {
				r.distance = v.match.Distance
			}
			continue
		}
		// JACCARD goes before LEVENSHTEIN and COSINE; of equals the best score is shown.
		if best == noMeasure || m < best || m == best && v.match.Score > r.score {
			best = m
			r.scored, r.score, r.err, r.exact = true, v.match.Score, v.match.Error, v.match.Exact
		}
	}
	if sel.times {
		e, err := c.getEntry(x)
		if err != nil {
			return result{}, false, err
		}
		r.time = e.Time
	}
	return r, true, nil
}

// test decides an expression for a candidate.
func (x *run) test(n node, c *candidate) (bool, error) {
	switch n := n.(type) {
	case andNode:
		for _, t := range n {
			if ok, err := x.test(t, c); err != nil || !ok {
				return false, err
			}
		}
		return true, nil
	case orNode:
		for _, t := range n {
			if ok, err := x.test(t, c); err != nil || ok {
				return ok, err
			}
		}
		return false, nil
	}
	l := n.(*leaf)
	v, err := x.ask(l, c)
	return v.holds != l.negated, err
}

// ask returns the verdict of a predicate on a candidate, deciding it once.
func (x *run) ask(l *leaf, c *candidate) (*verdict, error) {
	v := &c.verdicts[l.number]
	if v.known {
		return v, nil
	}
	decided, err := l.predicate.judge(x, c)
	if err != nil {
		return v, err
	}
	decided.known = true
	*v = decided
	return v, nil
}

// compare orders results. Those without a distance or score come last, whichever way the others go.
func (sel *selection) compare(a, b result) int {
	for _, k := range sel.order {
		c := 0
		switch k.by {
		case "id":
			c = strings.Compare(a.id, b.id)
		case "distance":
			if missing := cmpBool(a.distance < 0, b.distance < 0); missing != 0 {
				return missing
			}
			c = a.distance - b.distance
		case "score":
			if missing := cmpBool(!a.scored, !b.scored); missing != 0 {
				return missing
			}
			c = cmp.Compare(a.score, b.score)
		case "time":
			c = a.time.Compare(b.time)
		}
		if k.desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// cmpBool puts false before true.
func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sorted yields found in the order of the selection, or only the first so many if that is not negative.
func (x *run) sorted(sel *selection, found iter.Seq2[result, error], first int) iter.Seq2[result, error] {
	return func(yield func(result, error) bool) {
		if first == 0 {
			return
		}
		few := first > 0 && first <= mostFirst
		top := ordered.Limited[result]{Most: first, Compare: sel.compare}
		if !few {
			top.Most = math.MaxInt / 4 // all
		}
		for r, err := range found {
			if err == nil && !few {
				err = x.hold(resultBytes + len(r.id))
			}
			if err != nil {
				yield(result{}, err)
				return
			}
			top.Add(r)
		}
		all, _, err := top.Sorted(x.ctx)
		if err != nil {
			yield(result{}, err)
			return
		}
		for r, ok := all.Next(); ok; r, ok = all.Next() {
			if !yield(r, nil) {
				return
			}
		}
	}
}
