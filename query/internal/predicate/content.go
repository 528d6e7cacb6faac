package predicate

import (
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
)

// condition is a condition on the text and the fields of a document.
type condition interface {
	holds(text, fields []byte) bool
	readsText() bool // holds reads the text
	// ranges restricts the values of indexed fields: if the condition holds for a document, then
	// for each element of the result, the document has a value in one of the element's ranges. If
	// decided, the converse is true, too.
	ranges() (of [][]engine.FieldRange, decided bool)
	String() string // in the query language
}

// content is a predicate that the text and the fields of a document decide: a single test, or
// several joined.
type content struct{ condition }

type not struct{ condition }

// ranges returns no restriction: a document may have any other value, or none.
func (n not) ranges() ([][]engine.FieldRange, bool) { return nil, false }

func (n not) holds(text, fields []byte) bool { return !n.condition.holds(text, fields) }

// String writes the condition in the query language.
func (n not) String() string { return "NOT " + n.condition.String() }

type joined struct {
	or    bool
	terms []condition
}

func (j joined) holds(text, fields []byte) bool {
	for _, t := range j.terms {
		if t.holds(text, fields) == j.or {
			return j.or
		}
	}
	return !j.or
}

func (j joined) readsText() bool { return slices.ContainsFunc(j.terms, condition.readsText) }

func (j joined) ranges() (all [][]engine.FieldRange, decided bool) {
	var either []engine.FieldRange
	decided = true
	for _, t := range j.terms {
		of, alone := t.ranges()
		if all = append(all, of...); j.or && len(of) == 0 {
			return nil, false
		} else if j.or {
			either = append(either, of[0]...)
		}
		decided = decided && alone && (!j.or || len(of) == 1)
	}
	if j.or {
		return [][]engine.FieldRange{either}, decided
	}
	return all, decided
}

// String writes the conditions in the query language, with parentheses around an OR.
func (j joined) String() string {
	parts := make([]string, len(j.terms))
	for i, t := range j.terms {
		parts[i] = t.String()
	}
	if j.or {
		return "(" + strings.Join(parts, " OR ") + ")"
	}
	return strings.Join(parts, " AND ")
}

// OfContent reports whether text and fields alone decide a predicate.
func OfContent(p Predicate) bool { _, ok := p.(*content); return ok }

// Not returns the negation of p, which must satisfy OfContent.
func Not(p Predicate) Predicate { return &content{not{p.(*content).condition}} }

// Join joins predicates by OR or AND. They must satisfy OfContent.
func Join(predicates []Predicate, or bool) Predicate {
	j := joined{or: or}
	for _, p := range predicates {
		j.terms = append(j.terms, p.(*content).condition)
	}
	return &content{j}
}

func (p *content) Test(x *Scope, c *Candidate) (Verdict, error) {
	d, err := c.ReadDoc(x)
	if err != nil {
		return Verdict{}, err
	}
	var text []byte
	if p.readsText() {
		text = []byte(d.Text)
	}
	return Verdict{Holds: p.holds(text, d.Fields)}, nil
}

func (p *content) List(x *Scope, o ListOptions, to Sink) { x.scan(p, o, to) }

func (p *content) narrow(s *scan) { s.content = append(s.content, p) }

func (p *content) Cost(x *Scope) float64 {
	n, decided := x.indexed(scanOf(p, ListOptions{}).filter(ListOptions{}, nil))
	each := float64(blockCost)
	if decided {
		each = listCost
	}
	return min((listCost+readCost)*x.Documents(), each*n) + 3
}

func (p *content) Rows(x *Scope) float64     { return x.Selects(p, ListOptions{}) }
func (p *content) Explain(x *Scope) []string { return ExplainScan(x, p, ListOptions{}) }
func (p *content) TestCost() TestCost        { return TestText }
func (p *content) Measure() Measure          { return NoMeasure }
func (p *content) Order() Order              { return ByID }
