package query

import (
	"cmp"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/query/internal/predicate"
)

// result is a document that a selection found, or of a selection with passages one of its passages.
type result struct {
	id       string
	distance int // -1 if no NEAR or NEAREST holds: another side of an OR found it
	scored   bool
	score    float64
	err      float64
	exact    bool
	time     time.Time // if the selection orders by it
	passages []engine.Passage
}

// mostFirst is the largest LIMIT + OFFSET for which sorting holds only about that many results.
const mostFirst = 1 << 16

// Bytes that a statement holds for each result, and each id that it has seen, not counting the
// id itself, while a slice or map of them grows.
const (
	resultBytes = 2 * 144
	seenBytes   = 64
)

// rowsOf yields the rows of a selection, without SHOW.
func (x *run) rowsOf(sel *selection, p plan) iter.Seq2[Row, error] {
	if !p.streams {
		return windowRows(x, sel.window, x.sorted(sel, p, p.options(sel)), sel.row)
	}
	return windowRows(x, sel.window, x.find(sel, p, p.options(sel)), sel.row)
}

// compare orders results. Those without a distance, score or passage come last, in either
// direction.
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
		case "words", "at":
			if missing := cmpBool(len(a.passages) == 0, len(b.passages) == 0); missing != 0 {
				return missing
			} else if len(a.passages) == 0 {
				continue
			}
			p, q := a.passages[0], b.passages[0]
			if c = p.Words - q.Words; k.by == "at" {
				c = cmp.Or(p.At-q.At, comparePassages(p, q))
			}
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

// comparePassages puts long passages first.
func comparePassages(a, b engine.Passage) int {
	return cmp.Or(b.Words-a.Words, a.At-b.At, a.QueryAt-b.QueryAt)
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

// sorted yields what a selection finds in its order: all, or as many as LIMIT and OFFSET need.
func (x *run) sorted(sel *selection, p plan, o predicate.ListOptions) iter.Seq2[result, error] {
	return func(yield func(result, error) bool) {
		top := ordered.Limited[result]{Most: sel.First(), Compare: sel.compare}
		few := top.Most >= 0 && top.Most <= mostFirst
		if !few {
			top.Most = math.MaxInt / 4 // all
		}
		for r, err := range x.find(sel, p, o) {
			if err == nil && !few {
				err = x.Hold(resultBytes + len(r.id))
			}
			if err != nil {
				yield(r, err)
				return
			}
			top.Add(r)
		}
		all, _, err := top.Sorted(x.Ctx)
		if err != nil {
			yield(result{}, err)
			return
		}
		for r, ok := all.Next(); ok && yield(r, nil); r, ok = all.Next() {
		}
	}
}

// plainColumns names the columns of a selection without SHOW.
func (sel *selection) plainColumns() []string {
	if sel.plain != nil {
		return sel.plain
	}
	c := append(make([]string, 0, 8), "id")
	if sel.distance {
		c = append(c, "distance")
	}
	if sel.score {
		c = append(c, "score", "error", "exact")
	}
	if sel.passages {
		c = append(c, "words", "at", "query_at")
	}
	sel.plain = c
	return c
}

// row returns the row of a result, without SHOW.
func (sel *selection) row(r result) Row {
	row := append(Row(sel.cells.Row(len(sel.plain))), r.id)
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
	switch {
	case sel.passages && len(r.passages) > 0:
		row = append(row, r.passages[0].Words, r.passages[0].At, r.passages[0].QueryAt)
	case sel.passages:
		row = append(row, nil, nil, nil)
	}
	return row
}

// countSelect counts what a selection finds, in no order and without holding it.
func (x *run) countSelect(sel *selection) (n int64, err error) {
	if l, alone := sel.expr.(*leaf); alone && !l.negated {
		if c, ok := l.Predicate.(predicate.Counter); ok {
			n, err = c.Count(x.Scope)
			return sel.Count(n), err
		}
	}
	p := x.planFor(sel)
	o := p.options(sel)
	o.Ordered, o.First = false, 0
	for _, err := range x.find(sel, p, o) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return sel.Count(n), nil
}
