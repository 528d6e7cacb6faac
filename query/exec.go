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
	if w.limit == 0 {
		return nil
	}
	find := x.find
	if !p.streams {
		find = x.sorted
	}
	err := find(sel, p, p.options(sel), func(r result) error {
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
	})
	if err == errStop {
		return nil
	}
	return err
}

// find gives what a selection finds, in the order of the drivers. That a document is gone
// (predicate.ErrGone) is no error.
func (x *run) find(sel *selection, p plan, o predicate.ListOptions, give func(result) error) error {
	t := x.newTester(sel, p, give)
	for _, l := range p.drivers {
		for f, err := range l.Predicate.(predicate.Driver).List(x.Scope, o) {
			if err == nil {
				err = t.take(listed{f, l})
			}
			if err != nil && !errors.Is(err, predicate.ErrGone) {
				return t.end(err)
			}
		}
	}
	return t.end(nil)
}

// listed is a document that a driver lists.
type listed struct {
	predicate.Found
	driver *leaf
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
func (x *run) sorted(sel *selection, p plan, o predicate.ListOptions, give func(result) error) error {
	top := ordered.Limited[result]{Most: sel.first(), Compare: sel.compare}
	few := top.Most >= 0 && top.Most <= mostFirst
	if !few {
		top.Most = math.MaxInt / 4 // all
	}
	err := x.find(sel, p, o, func(r result) error {
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
