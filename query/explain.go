package query

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
)

// explain runs EXPLAIN and EXPLAIN ANALYZE. The rows are the lines of the plan; ANALYZE also
// executes it and adds a line with the actual work.
func (x *run) explain(s *syntax.Statement) error {
	var sel *syntax.Select
	note := ""
	switch {
	case s.Select != nil:
		sel = s.Select
	case s.Pairs != nil:
		return x.explainMatching(s, s.Pairs.By, s.Pairs.Clauses)
	case s.Clusters != nil:
		return x.explainMatching(s, s.Clusters.By, s.Clusters.Clauses)
	case s.Count != nil && s.Count.By != nil:
		if sel, note = cmp.Or(s.Count.Select, &syntax.Select{}), "count"; s.Count.Pairs != nil || s.Count.Clusters != nil {
			return x.countBy(s.Count) // returns an error that says why not
		}
	case s.Count != nil && s.Count.Select != nil:
		sel, note = s.Count.Select, "count"
	case s.Delete != nil && s.Delete.Where != nil && !s.Explain.Analyze:
		sel, note = s.Delete.Where, "delete"
	default:
		return syntax.Errorf(s.Explain.Word.Pos.Offset, "such as EXPLAIN NEAR('a', 3)", "EXPLAIN needs a query")
	}
	bind := x.bindSelect
	if note != "" {
		bind = func(sel *syntax.Select) (*selection, error) { return x.bindRowless(strings.ToUpper(note), sel) }
	}
	bound, err := bind(sel)
	if err != nil {
		return err
	}
	x.planFor(bound)
	lines := x.describe(bound, note)
	x.answer([]string{"plan"}, func(yield func(Row, error) bool) {
		if s.Explain.Analyze {
			actual, err := x.analyze(bound, note)
			if err != nil {
				yield(nil, err)
				return
			}
			lines = append(lines, actual)
		}
		for _, l := range lines {
			if !yield(Row{l}, nil) {
				return
			}
		}
	})
	return nil
}

// analyze executes a plan and describes the work that it did.
func (x *run) analyze(sel *selection, note string) (string, error) {
	started := quantity.Start()
	rows := int64(0)
	if note == "count" {
		n, err := x.countSelect(sel)
		if err != nil {
			return "", err
		}
		rows = n
	} else {
		for _, err := range x.rowsOf(sel) {
			if err != nil {
				return "", err
			}
			rows++
		}
	}
	st := x.rows.stats
	return fmt.Sprintf("actual: %s, %s, %s, %d matches before the tests, %s", quantity.Plain(rows, "row", "rows"), quantity.Plain(st.Probes, "probe", "probes"),
		quantity.Plain(st.Candidates, "candidate", "candidates"), st.Matches, started.Elapsed().Round(time.Microsecond)), nil
}

// describe returns the steps of a plan, last step first.
func (x *run) describe(sel *selection, note string) []string {
	var lines []string
	if note != "" {
		lines = append(lines, note)
	}
	if sel.shown != nil {
		lines = append(lines, sel.shown.describe())
	}
	if sel.Limit >= 0 || sel.Offset > 0 {
		l := "rows " + fmt.Sprint(sel.Offset+1) + " on"
		if sel.Limit >= 0 {
			l = fmt.Sprintf("limit %d, offset %d", sel.Limit, sel.Offset)
		}
		lines = append(lines, l)
	}
	if note != "count" {
		keys := make([]string, len(sel.order))
		for i, k := range sel.order {
			keys[i] = k.by
			if k.desc {
				keys[i] += " desc"
			}
		}
		how := "sort"
		if sel.plan.streams {
			how = "in the order found"
		}
		lines = append(lines, "order by "+strings.Join(keys, ", ")+": "+how)
	}
	if !sel.decided() {
		lines = append(lines, "test "+sel.expr.String())
	}
	if len(sel.plan.drivers) > 1 {
		lines = append(lines, "union")
	}
	o := sel.options()
	if note == "count" {
		o.Ordered = false
	}
	for _, l := range sel.plan.drivers {
		if f, ok := l.Predicate.(predicate.Filter); ok && len(o.Also) > 0 || ok && o.First > 0 {
			lines = append(lines, predicate.ExplainScan(x.Scope, f, o)...)
			continue
		}
		lines = append(lines, l.Predicate.(predicate.Driver).Explain(x.Scope)...)
	}
	if len(sel.plan.compared) > 0 {
		lines = append(lines, "estimate: "+strings.Join(sel.plan.compared, ", "))
	}
	return lines
}
