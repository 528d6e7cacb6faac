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

// result is a document that a selection found or, if the selection has passages, one of the
// document's passages.
type result struct {
	id       string
	distance int // -1 if neither NEAR nor NEAREST holds, because another side of an OR found the document
	scored   bool
	score    float64
	err      float64
	exact    bool
	time     time.Time // set if the selection orders by it
	passages []engine.Passage
	keys     []fieldKey // set if the selection orders by fields
}

// mostFirst is the largest LIMIT + OFFSET for which a sort holds only about that many results.
const mostFirst = 1 << 16

// Memory that a statement accounts for, in bytes: per result, and per id seen in addition to the id
// itself. Both include the growth of the slice or map.
const (
	resultBytes = 2 * 144
	seenBytes   = 64
	keyBytes    = 2 * 64 // per ORDER BY field
)

// rowsOf yields the rows of a selection without SHOW.
func (x *run) rowsOf(sel *selection) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		find := x.find
		if !sel.plan.streams {
			find = x.sorted
		}
		if sel.Limit == 0 {
			return
		}
		find(sel, sel.options(), func(r result, err error) bool {
			in, more := x.admits(&sel.window, err, yield)
			return (!in || yield(sel.row(&r), nil)) && more
		})
	}
}

// compare orders results. Results without a distance, score, passage or field come last, whether
// the order ascends or descends.
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
		default:
			if c = a.keys[k.field].compare(&b.keys[k.field], k.desc); c != 0 {
				return c
			}
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

// comparePassages orders long passages first.
func comparePassages(a, b engine.Passage) int {
	return cmp.Or(b.Words-a.Words, a.At-b.At, a.QueryAt-b.QueryAt)
}

// cmpBool orders false before true.
func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sorted is find in the order of the selection. It yields all results, or as many as LIMIT and
// OFFSET need.
func (x *run) sorted(sel *selection, o predicate.ListOptions, yield func(result, error) bool) {
	top := ordered.Limited[result]{Most: sel.First(), Compare: sel.compare}
	few := top.Most >= 0 && top.Most <= mostFirst
	if !few {
		top.Most = math.MaxInt / 4 // all
	}
	find := x.find
	if len(sel.fields) > 0 {
		find = x.keyed
	}
	var err error
	find(sel, o, func(r result, failed error) bool {
		if err = failed; err == nil && !few {
			held := resultBytes + len(r.id)
			for i := range r.keys {
				held += keyBytes + len(r.keys[i].text)
			}
			err = x.Hold(held)
		}
		if err == nil {
			top.Add(r)
		}
		return err == nil
	})
	if err == nil {
		var all *ordered.Runs[result]
		if all, _, err = top.Sorted(x.Ctx); err == nil {
			for r, ok := all.Next(); ok && yield(r, nil); r, ok = all.Next() {
			}
			return
		}
	}
	yield(result{}, err)
}

// A layout describes the rows of a query without SHOW: their columns, and their order without ORDER
// BY.
type layout struct {
	columns []string
	order   []orderKey
}

// layouts is indexed by the sum of what rows have: a distance (1), a score (2), passages (4).
var layouts = func() (all [8]layout) {
	for has := range all {
		l := layout{columns: []string{"id"}}
		add := func(key orderKey, columns ...string) {
			l.columns, l.order = append(l.columns, columns...), append(l.order, key)
		}
		if has&1 != 0 {
			add(orderKey{by: "distance"}, "distance")
		}
		if has&2 != 0 {
			add(orderKey{by: "score", desc: true}, "score", "error", "exact")
		}
		if has&4 != 0 {
			add(orderKey{by: "words", desc: true}, "words", "at", "query_at")
		}
		if add(orderKey{by: "id"}); has&4 != 0 {
			add(orderKey{by: "at"})
		}
		all[has] = l
	}
	return all
}()

func (sel *selection) layout() *layout {
	at := 0
	for bit, has := range [...]bool{sel.distance, sel.score, sel.passages} {
		if has {
			at |= 1 << bit
		}
	}
	return &layouts[at]
}

// row converts a result to a row, without SHOW.
func (sel *selection) row(r *result) Row {
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

// countSelect counts the results of a selection. It neither sorts nor holds them.
func (x *run) countSelect(sel *selection) (n int64, err error) {
	if l, alone := sel.expr.(*leaf); alone && !l.negated {
		if c, ok := l.Predicate.(predicate.Counter); ok {
			n, err = c.Count(x.Scope)
			return sel.Count(n), err
		}
	}
	x.planFor(sel)
	o := sel.options()
	o.Ordered, o.First = false, 0
	x.find(sel, o, func(_ result, failed error) bool {
		if err = failed; err == nil {
			n++
		}
		return err == nil
	})
	if err != nil {
		return 0, err
	}
	return sel.Count(n), nil
}
