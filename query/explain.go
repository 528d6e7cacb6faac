package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
)

// explain runs EXPLAIN and EXPLAIN ANALYZE: the plan, a line a row; ANALYZE carries it out and adds what it took.
func (x *run) explain(s *statement) error {
	var sel *selectStmt
	note := ""
	switch {
	case s.Select != nil:
		sel = s.Select
	case s.Count != nil && s.Count.Select != nil:
		sel, note = s.Count.Select, "count"
	case s.Delete != nil && s.Delete.Where != nil && !s.Explain.Analyze:
		sel, note = s.Delete.Where, "delete"
	default:
		return errorAt(x.p.text, s.Explain.Word.Pos.Offset, "such as EXPLAIN NEAR('a', 3)", "EXPLAIN goes with a query")
	}
	bound, err := x.bindSelect(sel)
	if err != nil {
		return err
	}
	p := x.planFor(bound)
	lines := x.describe(bound, p, note)
	x.answer([]string{"plan"}, func(yield func(Row, error) bool) {
		if s.Explain.Analyze {
			actual, err := x.analyze(bound, p, note)
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

// analyze carries out a plan and says what it took.
func (x *run) analyze(sel *selection, p plan, note string) (string, error) {
	started := time.Now()
	rows := int64(0)
	if note == "count" {
		n, err := x.countSelect(sel)
		if err != nil {
			return "", err
		}
		rows = n
	} else {
		for _, err := range x.results(sel, p) {
			if err != nil {
				return "", err
			}
			rows++
		}
	}
	st := x.rows.stats
	return fmt.Sprintf("actual: %s, %s, %s, %d matches before the tests, %s", plural(rows, "row", "rows"), plural(st.Probes, "probe", "probes"),
		plural(st.Candidates, "candidate", "candidates"), st.Matches, time.Since(started).Round(time.Microsecond)), nil
}

// describe writes a plan, from what is done last to what is done first.
func (x *run) describe(sel *selection, p plan, note string) []string {
	var lines []string
	if note != "" {
		lines = append(lines, note)
	}
	if sel.limit >= 0 || sel.offset > 0 {
		l := "rows " + fmt.Sprint(sel.offset+1) + " on"
		if sel.limit >= 0 {
			l = fmt.Sprintf("limit %d, offset %d", sel.limit, sel.offset)
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
		if p.streams {
			how = "in the order found"
		}
		lines = append(lines, "order by "+strings.Join(keys, ", ")+": "+how)
	}
	if _, alone := sel.expr.(*leaf); !alone {
		lines = append(lines, "test "+sel.expr.String())
	}
	if len(p.drivers) > 1 {
		lines = append(lines, "union")
	}
	for _, l := range p.drivers {
		lines = append(lines, l.predicate.(driver).explain(x)...)
	}
	return lines
}

const matchesNothing = ": a text without words matches nothing"

// finding is the line of EXPLAIN that names a driver.
func finding(d driver) string { return "find " + d.String() }

// allIDs is what EXPLAIN adds to the line of a driver that looks through all documents.
func (x *run) allIDs() string { return fmt.Sprintf(": all ids, about %.0f", x.documents()) }

// describeParts writes the plan of a driver, a line for each part of the database below that of the driver.
func describeParts(head string, parts []engine.PartPlan, err error) []string {
	lines := []string{head}
	if err != nil {
		return append(lines, "  "+err.Error())
	}
	for _, part := range parts {
		lines = append(lines, "  "+describePart(part))
	}
	return lines
}

func describePart(p engine.PartPlan) string {
	of := plural(p.Documents, "document", "documents")
	switch p.Method {
	case "scan":
		return fmt.Sprintf("%s: scan %s", p.Part, of)
	case "postings":
		return fmt.Sprintf("%s: %s, about %s of %s", p.Part, plural(p.Probes, "posting", "postings"), plural(p.Candidates, "candidate", "candidates"), of)
	}
	return fmt.Sprintf("%s: %s with radii %v, about %s of %s", p.Part, plural(p.Probes, "probe", "probes"), p.Radii,
		plural(p.Candidates, "candidate", "candidates"), of)
}
