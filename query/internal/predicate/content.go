package predicate

import "strings"

// condition is a condition on the text and the fields of a document.
type condition interface {
	holds(text, fields []byte) bool
	ofText() bool   // it reads the text
	String() string // as the language writes it
}

// content is a predicate that the text and the fields of a document decide: a test of one of them,
// or several joined.
type content struct{ condition }

// not is a condition under NOT.
type not struct{ condition }

func (n not) holds(text, fields []byte) bool { return !n.condition.holds(text, fields) }

// String writes the condition as the language does.
func (n not) String() string { return "NOT " + n.condition.String() }

// joined are conditions joined by AND or by OR.
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

func (j joined) ofText() bool {
	for _, t := range j.terms {
		if t.ofText() {
			return true
		}
	}
	return false
}

// String writes the conditions as the language does, with parentheses around an OR.
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

// Not returns the predicate that holds where p does not, which is OfContent.
func Not(p Predicate) Predicate { return &content{not{p.(*content).condition}} }

// Join returns the predicate that holds where one of the predicates does, or all of them. They are
// OfContent.
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
	if p.ofText() {
		text = []byte(d.Text)
	}
	return Verdict{Holds: p.holds(text, d.Fields)}, nil
}

func (p *content) List(x *Scope, o ListOptions, to Sink) { x.scan(p, o, to) }
func (p *content) narrow(s *scan)                        { s.content = append(s.content, p) }
func (p *content) Cost(x *Scope) float64                 { return (listCost+readCost)*x.Documents() + 3 }
func (p *content) Rows(x *Scope) float64                 { return x.Selects(p, ListOptions{}) }
func (p *content) Explain(x *Scope) []string             { return ExplainScan(x, p, ListOptions{}) }
func (p *content) TestCost() TestCost                    { return TestText }
func (p *content) Measure() Measure                      { return NoMeasure }
func (p *content) Order() Order                          { return ByID }
