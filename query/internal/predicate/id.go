package predicate

import (
	"errors"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// BindID resolves ID = 'a', ID >= 'a', ID IN (...), ID BETWEEN ... and ID LIKE '...'. It returns
// the positive predicate; the caller applies negations such as != and NOT IN.
func BindID(x *Scope, e *syntax.Test) (Predicate, error) {
	switch {
	case e.Is != nil:
		return nil, syntax.Errorf(e.Is.Pos.Offset, "", "each document has an id")
	case e.Like != nil:
		return bindLike(x, e)
	case e.From != nil:
		return bindRange(x, e.From.Token, e.To.Token)
	case e.Op != nil && strings.ContainsAny(e.Op.Value, "<>") && e.Op.Value != "<>":
		return bindBound(x, e.Op.Value, e.Value.Token)
	}
	if e.Value != nil {
		id, err := x.Values.String(e.Value.Token, syntax.ExpectID)
		return &idIn{ids: []string{id}}, err
	}
	var ids []string
	for _, o := range e.In {
		err := x.Values.Each(o.Token, func(v any) error {
			id, ok := v.(string)
			if !ok {
				return x.Values.Wrong(o.Token, syntax.ExpectID)
			}
			ids = append(ids, id)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return &idIn{ids: slices.Compact(ids)}, nil
}

func bindLike(x *Scope, e *syntax.Test) (Predicate, error) {
	p, err := compileLike(x, e.Like, e.Escape)
	if err != nil {
		return nil, err
	}
	x.doubtPattern(p)
	if p.PrefixOnly() {
		return &idRange{p.Prefix, base.PrefixEnd(p.Prefix), "LIKE " + value.Label(p.Source)}, nil
	}
	return &idLike{p}, nil
}

// bindRange resolves ID BETWEEN 'a' AND 'b'.
func bindRange(x *Scope, from, to syntax.Token) (Predicate, error) {
	a, err := x.Values.String(from, syntax.ExpectID)
	if err != nil {
		return nil, err
	}
	b, err := x.Values.String(to, syntax.ExpectID)
	return &idRange{a, after(b), "BETWEEN " + value.Label(a) + " AND " + value.Label(b)}, err
}

// bindBound resolves ID < 'a' and similar comparisons.
func bindBound(x *Scope, op string, t syntax.Token) (Predicate, error) {
	id, err := x.Values.String(t, syntax.ExpectID)
	p := &idRange{label: op + " " + value.Label(id)}
	switch op {
	case ">=":
		p.from = id
	case ">":
		p.from = after(id)
	case "<":
		if p.to = id; id == "" {
			p.to = "\x00" // no id is less
		}
	default:
		p.to = after(id)
	}
	return p, err
}

// after returns the least string that is greater than s.
func after(s string) string { return s + "\x00" }

// idIn is ID = 'a' and ID IN ('a', 'b').
type idIn struct {
	ids []string // sorted, without duplicates
}

func (p *idIn) Test(_ *Scope, c *Candidate) (Verdict, error) {
	_, ok := slices.BinarySearch(p.ids, c.ID)
	return Verdict{Holds: ok}, nil
}

func (p *idIn) List(x *Scope, _ ListOptions, to Sink) {
	for _, id := range p.ids {
		e, err := x.Snap.Lookup(x.Ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if !to.Take(Found{ID: id, Entry: &e}, err) || err != nil {
			return
		}
	}
}

func (p *idIn) Cost(*Scope) float64     { return lookupCost * float64(len(p.ids)) }
func (p *idIn) Rows(*Scope) float64     { return float64(len(p.ids)) }
func (p *idIn) Explain(*Scope) []string { return []string{finding(p)} }
func (p *idIn) TestCost() TestCost      { return TestID }
func (p *idIn) Measure() Measure        { return NoMeasure }
func (p *idIn) Order() Order            { return ByID }

// String writes the predicate in the query language.
func (p *idIn) String() string {
	if len(p.ids) == 1 {
		return "ID = " + value.Label(p.ids[0])
	}
	labels := make([]string, len(p.ids))
	for i, id := range p.ids {
		labels[i] = value.Label(id)
	}
	return "ID IN (" + strings.Join(labels, ", ") + ")"
}

// idRange is ID >= 'a', ID BETWEEN 'a' AND 'b', ID LIKE 'a%' and other ranges.
type idRange struct {
	from, to string // from <= id < to; "" for no bound
	label    string // the text after ID
}

func (p *idRange) Test(_ *Scope, c *Candidate) (Verdict, error) {
	return Verdict{Holds: c.ID >= p.from && (p.to == "" || c.ID < p.to)}, nil
}

func (p *idRange) List(x *Scope, o ListOptions, to Sink) { x.scan(p, o, to) }
func (p *idRange) narrow(s *scan)                        { s.within(p.from, p.to) }
func (p *idRange) Cost(x *Scope) float64                 { return listCost*x.Documents() + 1 }
func (p *idRange) Rows(x *Scope) float64                 { return x.Selects(p, ListOptions{}) }
func (p *idRange) Explain(x *Scope) []string             { return ExplainScan(x, p, ListOptions{}) }
func (p *idRange) TestCost() TestCost                    { return TestID }
func (p *idRange) Measure() Measure                      { return NoMeasure }
func (p *idRange) Order() Order                          { return ByID }

// String writes the predicate in the query language.
func (p *idRange) String() string { return "ID " + p.label }

// All returns the predicate that holds for all documents.
func All() Predicate { return &idRange{label: "LIKE '%'"} }

// idLike is ID LIKE 'a%b', where the pattern is more than a prefix.
type idLike struct {
	*value.Pattern
}

func (p *idLike) Test(_ *Scope, c *Candidate) (Verdict, error) {
	return Verdict{Holds: p.Match(c.ID)}, nil
}

func (p *idLike) List(x *Scope, o ListOptions, to Sink) {
	if p.Exact && p.Prefix != "" {
		(&idIn{ids: []string{p.Prefix}}).List(x, o, to)
		return
	}
	x.scan(p, o, to)
}

func (p *idLike) narrow(s *scan) {
	s.within(p.Prefix, base.PrefixEnd(p.Prefix))
	s.ids = append(s.ids, p.Match)
}

func (p *idLike) Cost(x *Scope) float64 {
	if p.Exact {
		return lookupCost
	}
	return listCost*x.Documents() + 1
}

func (p *idLike) Rows(x *Scope) float64 {
	if p.Exact {
		return 1
	}
	return x.Selects(p, ListOptions{})
}

func (p *idLike) Explain(x *Scope) []string {
	if p.Exact {
		return []string{finding(p)}
	}
	return ExplainScan(x, p, ListOptions{})
}

func (p *idLike) TestCost() TestCost { return TestID }
func (p *idLike) Measure() Measure   { return NoMeasure }
func (p *idLike) Order() Order       { return ByID }

// String writes the predicate in the query language.
func (p *idLike) String() string { return "ID LIKE " + value.Label(p.Source) }
