package query

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/query/internal/predicate"
)

// result is a document that a selection found.
type result struct {
	id       string
	distance int // -1 if no NEAR or NEAREST holds: another side of an OR found it
	scored   bool
	score    float64
	err      float64
	exact    bool
	time     time.Time // if the selection orders by it
}

// candidate is a document while it is tested.
type candidate struct {
	predicate.Candidate
	verdicts []verdict // by the number of the leaf
}

// verdict is the verdict of a leaf on a candidate.
type verdict struct {
	predicate.Verdict
	known bool // the leaf has been tested
}

// mostFirst is the largest LIMIT + OFFSET for which sorting holds only about that many results.
const mostFirst = 1 << 16

// Bytes that a statement holds for each result, and each id that it has seen, not counting the
// id itself, while a slice or map of them grows.
const (
	resultBytes = 2 * 96
	seenBytes   = 64
)

// errStop ends a search of which no more is wanted.
var errStop = errors.New("no more is wanted")

// each gives what a selection finds, in its order, within OFFSET and LIMIT. The error of give ends
// it; errStop is none of each.
func (x *run) each(sel *selection, p plan, give func(result) error) error {
	w := sel.window
	within := func(r result) error {
		if cancelled := x.Ctx.Err(); cancelled != nil { // the rows may be known by then
			return cancelled
		}
		in, last := w.admit()
		if in {
			if err := give(r); err != nil {
				return err
			}
		}
		if last {
			return errStop
		}
		return nil
	}
	if w.limit == 0 {
		return nil
	}
	find := x.sorted
	if p.streams {
		find = func(sel *selection, p plan, give func(result) error) error {
			return x.find(sel, p, p.options(sel), give)
		}
	}
	if err := find(sel, p, within); err != errStop {
		return err
	}
	return nil
}

// find gives what a selection finds, in the order of the drivers.
func (x *run) find(sel *selection, p plan, o predicate.ListOptions, give func(result) error) error {
	if p.readsTexts(sel) {
		return x.findByText(sel, p, o, give)
	}
	c := &candidate{verdicts: make([]verdict, len(sel.predicates))}
	return x.list(p, o, func(f listed) error {
		c.begin(p, &f)
		r, ok, err := x.judge(sel, c)
		if err != nil || !ok {
			return err
		}
		return give(r)
	})
}

// listed is a document that a driver lists.
type listed struct {
	predicate.Found
	driver *leaf
}

// list gives what the drivers list, each document once. That give returns predicate.ErrGone for one
// is no error.
func (x *run) list(p plan, o predicate.ListOptions, give func(listed) error) error {
	tested := x.Counting("test")
	var seen map[string]struct{}
	if len(p.drivers) > 1 {
		seen = make(map[string]struct{})
	}
	for _, l := range p.drivers {
		for f, err := range l.Predicate.(predicate.Driver).List(x.Scope, o) {
			if err == nil {
				err = x.Ctx.Err()
			}
			if err == nil && seen != nil {
				if _, ok := seen[f.ID]; ok {
					continue
				}
				seen[f.ID] = struct{}{}
				err = x.Hold(seenBytes + len(f.ID))
			}
			if err == nil {
				if f.Entry == nil && !f.Listed { // List has counted the others
					tested()
				}
				err = give(listed{f, l})
			}
			if err != nil && !errors.Is(err, predicate.ErrGone) {
				return err
			}
		}
	}
	return nil
}

// begin makes c the candidate of a document that is listed.
func (c *candidate) begin(p plan, f *listed) {
	clear(c.verdicts)
	c.Reset(&f.Found)
	c.verdicts[f.driver.number] = verdict{known: true, Verdict: predicate.Verdict{Holds: true, Match: f.Match}}
	for _, l := range p.fused {
		c.verdicts[l.number] = verdict{known: true, Verdict: predicate.Verdict{Holds: true}}
	}
}

// judge tests a candidate, and returns its result if it satisfies the expression.
func (x *run) judge(sel *selection, c *candidate) (result, bool, error) {
	if ok, err := x.test(sel.expr, c); err != nil || !ok {
		return result{}, false, err
	}
	r := result{id: c.ID, distance: -1}
	best := predicate.NoMeasure
	for _, l := range sel.predicates {
		m := l.Measure()
		if l.negated || m == predicate.NoMeasure {
			continue
		}
		v, err := x.ask(l, c)
		if err != nil {
			return result{}, false, err
		}
		if !v.Holds {
			continue
		}
		if m == predicate.Distance {
			if r.distance < 0 || v.Match.Distance < r.distance {
				r.distance = v.Match.Distance
			}
			continue
		}
		// A Score is shown rather than an ExactScore, and of the same kind the best one.
		if best == predicate.NoMeasure || m < best || m == best && v.Match.Score > r.score {
			best = m
			r.scored, r.score, r.err, r.exact = true, v.Match.Score, v.Match.Error, v.Match.Exact
		}
	}
	if sel.times {
		e, err := c.ReadEntry(x.Scope)
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
	return v.Holds != l.negated, err
}

// ask returns the verdict of a leaf on a candidate. It tests each leaf once.
func (x *run) ask(l *leaf, c *candidate) (*verdict, error) {
	v := &c.verdicts[l.number]
	if v.known {
		return v, nil
	}
	decided, err := l.Predicate.Test(x.Scope, &c.Candidate)
	if err != nil {
		return v, err
	}
	v.known, v.Verdict = true, decided
	return v, nil
}

// compare orders results. Those without a distance or score come last, in either direction.
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

// sorted gives what a selection finds in its order: all, or as many as LIMIT and OFFSET need.
func (x *run) sorted(sel *selection, p plan, give func(result) error) error {
	top := ordered.Limited[result]{Most: sel.first(), Compare: sel.compare}
	few := top.Most >= 0 && top.Most <= mostFirst
	if !few {
		top.Most = math.MaxInt / 4 // all
	}
	err := x.find(sel, p, p.options(sel), func(r result) error {
		if !few {
			if err := x.Hold(resultBytes + len(r.id)); err != nil {
				return err
			}
		}
		top.Add(r)
		return nil
	})
	if err != nil {
		return err
	}
	all, _, err := top.Sorted(x.Ctx)
	if err != nil {
		return err
	}
	for r, ok := all.Next(); ok; r, ok = all.Next() {
		if err := give(r); err != nil {
			return err
		}
	}
	return nil
}

// columns names the columns of the rows of a selection.
func (sel *selection) columns() []string { return sel.shown.names(sel.plainColumns()) }

// plainColumns names the columns of a selection without SHOW.
func (sel *selection) plainColumns() []string {
	c := []string{"id"}
	if sel.distance {
		c = append(c, "distance")
	}
	if sel.score {
		c = append(c, "score", "error", "exact")
	}
	return c
}

// selectRows yields the rows of a selection.
func (x *run) selectRows(sel *selection, p plan) iter.Seq2[Row, error] {
	return sel.shown.rows(x, func(yield func(Row, error) bool) {
		err := x.each(sel, p, func(r result) error {
			if !yield(sel.row(r), nil) {
				return errStop
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	})
}

// row returns the row of a result, without SHOW.
func (sel *selection) row(r result) Row {
	row := Row{r.id}
	switch {
	case sel.distance && r.distance >= 0:
		row = append(row, r.distance)
	case sel.distance:
		row = append(row, nil)
	}
	switch {
	case sel.score && r.scored:
		row = append(row, r.score, r.err, r.exact)
	case sel.score:
		row = append(row, nil, nil, nil)
	}
	return row
}

// countSelect counts what a selection finds, in no order and without holding it.
func (x *run) countSelect(sel *selection) (n int64, err error) {
	if l, alone := sel.expr.(*leaf); alone && !l.negated {
		if c, ok := l.Predicate.(predicate.Counter); ok {
			n, err = c.Count(x.Scope)
			return sel.count(n), err
		}
	}
	p := x.planFor(sel)
	o := p.options(sel)
	o.Ordered, o.First = false, 0
	err = x.find(sel, p, o, func(result) error { n++; return nil })
	return sel.count(n), err
}
