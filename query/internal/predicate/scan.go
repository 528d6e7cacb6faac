package predicate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
)

// A Filter is a driver that goes through the documents and keeps those for which it holds, by their
// ids, times, texts or fields. Several of them are fused into one scan, which reads of a document
// what the next of them needs, and of one that another ruled out no more.
type Filter interface {
	Driver
	narrow(s *scan) // makes the filter one of the scan
}

// Fuses reports whether the driver, while it lists, can decide p as well.
func Fuses(driver, p Predicate) bool {
	like, ok := driver.(*idLike)
	if ok && like.Exact { // looks one id up
		return false
	}
	_, scans := driver.(Filter)
	_, ok = p.(Filter)
	return scans && ok
}

type scan struct {
	from    string // ids at or after it
	to      string // and before it; "" is no bound
	ids     []func(id string) bool
	since   time.Time
	content []condition
}

// scanOf returns the filters of p, and of those fused with it.
func scanOf(p Filter, o ListOptions) *scan {
	s := new(scan)
	p.narrow(s)
	for _, also := range o.Also {
		also.narrow(s)
	}
	return s
}

// within restricts ids to those at or after from and before to, which is "" for no bound.
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

// filter returns s as the engine has it. It calls look once for each document whose id, text or
// fields are looked at; its error ends the scan.
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

// scan yields the documents for which p, and what is fused with it, holds: by id if o.Ordered is
// set.
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
			entry := d.Entry()
			found.Entry = &entry
		}
		if !to.Take(found, err) || err != nil {
			return
		}
	}
}

// Selects looks at this many of the documents that a scan yields, or tests.
const (
	selectsRows  = 1000
	selectsTests = 4000
)

// Selects estimates how many documents p, with what is fused with it, holds for: by the first that
// a scan finds, or exactly if it finds few.
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
	if n, err := x.Snap.Count(x.Ctx, s.since); err == nil {
		of = float64(n)
	}
	if looked > 0 {
		of *= found / looked
	}
	return max(found, of)
}

// indexed returns how many documents are looked at because of values of indexed fields, all if
// there are none, and whether these values decide.
func (x *Scope) indexed(r engine.Range) (n float64, decided bool) {
	if len(r.Fields) > 0 {
		if n, err := x.Snap.CountIndexed(x.Ctx, r); err == nil {
			return float64(n), r.FieldsDecide
		}
	}
	return x.Documents(), false
}

// errLooked ends a scan that has looked at enough documents.
var errLooked = errors.New("looked at enough")

// ExplainScan describes how p, with what is fused with it, finds the documents.
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
		if (joined{terms: s.content}).ofText() {
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
