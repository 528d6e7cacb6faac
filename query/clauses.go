package query

import (
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	windows "github.com/simdb/simdb/query/internal/window"
)

type window = windows.Window

// clauses are the clauses after an expression.
type clauses struct {
	since   predicate.Predicate
	order   []orderKey
	orderAt []int                   // offset of each key in the statement
	fields  []*predicate.NamedField // the fields in order
	window
	estimate *syntax.Token
	show     *syntax.Show
}

func (x *run) bindClauses(list []*syntax.Clause) (c clauses, err error) {
	c.window = window{Limit: -1}
	var seen []string
	for _, e := range list {
		var name string
		at := 0
		switch {
		case e.Since != nil:
			name, at = "SINCE", e.Since.Word.Pos.Offset
			c.since, err = predicate.BindSince(x.Scope, e.Since)
		case e.Limit != nil:
			name, at = "LIMIT", e.Limit.Pos.Offset
			c.Limit, err = x.Values.Integer(*e.Limit, "LIMIT", 0, math.MaxInt)
		case e.Offset != nil:
			name, at = "OFFSET", e.Offset.Pos.Offset
			c.Offset, err = x.Values.Integer(*e.Offset, "OFFSET", 0, math.MaxInt)
		case e.Verify != nil:
			name, at = "VERIFY", e.Verify.Pos.Offset
		case e.Estimate != nil:
			name, at = "ESTIMATE", e.Estimate.Pos.Offset
			c.estimate = e.Estimate
		case e.Show != nil:
			name, at = "SHOW", e.Show.Word.Pos.Offset
			c.show = e.Show
		default:
			name, at = "ORDER BY", e.Order[0].Key.Pos.Offset
			err = x.bindOrder(&c, e.Order)
		}
		if err != nil {
			return c, err
		}
		if slices.Contains(seen, name) {
			return c, syntax.Errorf(at, "", "%s is given twice", name)
		}
		seen = append(seen, name)
	}
	return c, nil
}

// orderNames are the keys of ORDER BY that are not fields. Rows with passages have "at" as a
// further last key.
var orderNames = []string{"id", "distance", "score", "words", "time"}

func (x *run) bindOrder(c *clauses, terms []*syntax.OrderTerm) error {
	for _, t := range terms {
		k := orderKey{by: strings.ToLower(t.Key.Value), desc: t.Desc}
		if !slices.Contains(orderNames, k.by) {
			of, err := x.OneField(t.Key)
			if err != nil {
				return err
			}
			k.by, k.field, c.fields = t.Key.Value, len(c.fields), append(c.fields, of)
		}
		c.order = append(c.order, k)
		c.orderAt = append(c.orderAt, t.Key.Pos.Offset)
	}
	return nil
}

// checkOrder completes the order. It returns an error for a key that the rows do not have.
func (x *run) checkOrder(sel *selection, c *clauses) error {
	for i, k := range sel.order {
		switch {
		case k.by == "distance" && !sel.distance, k.by == "score" && !sel.score:
			return syntax.Errorf(c.orderAt[i], predicate.ComesFrom(k.by)+"; a field of that name is written fields."+k.by, "there is no %s to order by", k.by)
		case k.by == "words" && !sel.passages:
			return syntax.Errorf(c.orderAt[i], "they come from PASSAGES; a field of that name is written fields.words", "there are no words to order by")
		case k.by == "time":
			sel.times = true
		}
	}
	if len(sel.order) == 0 {
		sel.order = sel.layout().order
		return nil
	}
	if !slices.ContainsFunc(sel.order, func(k orderKey) bool { return k.by == "id" }) {
		sel.order = append(sel.order, orderKey{by: "id"})
	}
	if sel.passages {
		sel.order = append(sel.order, orderKey{by: "at"})
	}
	return nil
}

// windowRows yields the rows within the window; row converts each value of seq.
func windowRows[T any](x *run, w window, seq iter.Seq2[T, error], row func(T) Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if w.Limit == 0 {
			return
		}
		for v, err := range seq {
			in, more := x.admits(&w, err, yield)
			if in && !yield(row(v), nil) || !more {
				return
			}
		}
	}
}

// admits reports whether the next row is in the window, and whether more rows are wanted after it.
// It yields an error, after which no rows follow.
func (x *run) admits(w *window, err error, yield func(Row, error) bool) (in, more bool) {
	if err == nil {
		err = x.Ctx.Err() // the rows may be in memory, so that nothing else checks the context
	}
	if err != nil {
		yield(nil, err)
		return false, false
	}
	in, last := w.Admit()
	return in, !last
}
