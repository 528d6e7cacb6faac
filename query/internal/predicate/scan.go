package predicate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
)

// A Filter is a driver that scans documents and selects those for which it holds by their ids,
// times, texts or fields. Several filters can share a scan, which reads a document only as far as
// the next filter needs, and stops at the first filter that rejects it.
type Filter interface {
	Driver
	narrow(s *scan) // adds the filter to a scan
}

// Fuses reports whether driver can also decide p while it lists.
func Fuses(driver, p Predicate) bool {
	like, ok := driver.(*idLike)
	if ok && like.Exact { // looks up a single id
		return false
	}
	_, scans := driver.(Filter)
	_, ok = p.(Filter)
	return scans && ok
}

type scan struct {
	from    string // from <= id
	to      string // id < to; "" for no bound
	ids     []func(id string) bool
	since   time.Time
	content []condition
}

// scanOf returns the scan of p and of the filters fused with it.
func scanOf(p Filter, o ListOptions) *scan {
	s := new(scan)
	p.narrow(s)
	for _, also := range o.Also {
		also.narrow(s)
	}
	return s
}

// within restricts the scan to from <= id < to; "" is no bound.
func (s *scan) within(from, to string) {
	s.from = max(s.from, from)
	if to != "" && (s.to == "" || to < s.to) {
		s.to = to
	}
}

func (s *scan) match(id string) bool {
	for _, match := range s.ids {
		if !match(id) {
			return false
		}
	}
	return true
}

// filter converts s to a range of the engine. It calls look once for each document whose id, text
// or fields are tested; an error from look ends the scan.
func (s *scan) filter(o ListOptions, look func() error) engine.Range {
	f := engine.Range{From: s.from, To: s.to, Since: s.since, Limit: o.First, Unordered: !o.Ordered, OnlyIDs: o.IDsOnly}
	if len(s.ids) > 0 {
		f.Match = func(id []byte) (bool, error) { return s.match(string(id)), look() }
	}
	if len(s.content) > 0 {
		all := joined{terms: s.content}
		f.Fields, f.FieldsDecide = all.ranges()
		f.Where = func(text, fields []byte) (bool, error) {
			if f.Match == nil {
				if err := look(); err != nil {
					return false, err
				}
			}
			return all.holds(text, fields), nil
		}
	}
	return f
}

// scan yields the documents for which p and the filters fused with it hold; if o.Ordered is set, by
// id.
func (x *Scope) scan(p Filter, o ListOptions, to Sink) {
	count := x.Counting("list")
	f := scanOf(p, o).filter(o, func() error {
		count()
		return x.Ctx.Err()
	})
	counted := f.Match != nil || f.Where != nil
	for d, err := range x.Snap.Range(x.Ctx, f) {
		if !counted {
			count()
		}
		found := Found{ID: d.ID, Listed: true}
		if !o.IDsOnly {
			found.Entry = &d
		}
		if !to.Take(found, err) || err != nil {
			return
		}
	}
}

// Limits of the sample that Selects examines: documents found, and documents tested.
const (
	selectsRows  = 1000
	selectsTests = 4000
)

// Selects estimates how many documents satisfy p and the filters fused with it. It extrapolates
// from the first documents of a scan; if the scan finds few, the result is exact.
func (x *Scope) Selects(p Filter, o ListOptions) float64 {
	looked, found := 0.0, 0.0
	s := scanOf(p, o)
	f := s.filter(ListOptions{IDsOnly: true}, func() error {
		if looked == selectsTests {
			return errLooked
		}
		looked++
		return x.Ctx.Err()
	})
	if n, _ := x.indexed(f); n < x.Documents() {
		return n
	}
	all := true
	for _, err := range x.Snap.Range(x.Ctx, f) {
		if all = err == nil; all {
			found++
			all = found < selectsRows
		}
		if !all {
			break
		}
	}
	if all {
		return found
	}
	of := x.Documents()
	if n, err := x.Snap.Count(x.Ctx, engine.Range{Since: s.since}); err == nil {
		of = float64(n)
	}
	if looked > 0 {
		of *= found / looked
	}
	return max(found, of)
}

// indexed returns how many documents a scan looks at, which indexed fields may restrict, and
// whether the values of these fields decide the filters.
func (x *Scope) indexed(r engine.Range) (n float64, decided bool) {
	if len(r.Fields) > 0 {
		if n, err := x.Snap.Estimate(x.Ctx, r); err == nil {
			return float64(n), r.FieldsDecide
		}
	}
	return x.Documents(), false
}

// errLooked ends a scan that has looked at enough documents.
var errLooked = errors.New("looked at enough")

// ExplainScan describes how p and the filters fused with it find the documents.
func ExplainScan(x *Scope, p Filter, o ListOptions) []string {
	line := finding(p)
	for _, also := range o.Also {
		line += " AND " + also.String()
	}
	s := scanOf(p, o)
	ranged := s.from+s.to != ""
	narrowed := ranged || len(s.ids) > 0 || !s.since.IsZero()
	f := s.filter(o, nil)
	if n, decided := x.indexed(f); n < x.Documents() {
		var names []string
		for _, ranges := range f.Fields {
			for _, r := range ranges {
				names = append(names, r.Field)
			}
		}
		slices.Sort(names)
		of := ", the fields of"
		if decided {
			of = ""
		}
		return []string{fmt.Sprintf("%s: by the index of %s%s, %.0f of %.0f documents", line, strings.Join(slices.Compact(names), ", "), of, n, x.Documents())}
	}
	switch {
	case ranged:
		line += ": a range of ids"
	case narrowed || len(s.content) == 0:
		line += fmt.Sprintf(": all ids, about %.0f", x.Documents())
	}
	if len(s.content) > 0 {
		what := "fields"
		if (joined{terms: s.content}).readsText() {
			what = "texts"
		}
		if narrowed {
			line += ", and the " + what + " of those that match"
		} else {
			line += fmt.Sprintf(": the %s of all documents, about %.0f", what, x.Documents())
		}
		if o.Ordered && o.First > 0 {
			line += fmt.Sprintf(", at first one by one in order of id, until there are %d", o.First)
		}
	}
	return []string{line}
}
