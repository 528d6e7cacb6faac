package predicate

import (
	"fmt"
	"math"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// passages is PASSAGES(target, n): the document's text and another text share a run of at least n
// words.
type passages struct {
	target target
	words  int
	find   *engine.Passages // nil for an empty text, which shares nothing
}

func bindPassages(x *Scope, e *syntax.Call) (Predicate, error) {
	n, err := x.Values.Integer(e.Args[1].Value, "the number of words", 1, math.MaxInt)
	if err != nil {
		return nil, err
	}
	p := &passages{words: n}
	if p.target, err = x.textTarget(e.Name.Value, e.Args[0]); err != nil {
		return nil, err
	}
	if err := x.NeedTexts(e.Name); err != nil || p.target.doc.Text == "" {
		return p, err
	}
	p.find, err = x.Snap.Passages(x.Ctx, p.target.doc, n, &engine.SearchOptions{Stats: x.Stats})
	return p, err
}

func (p *passages) Test(x *Scope, c *Candidate) (Verdict, error) {
	if p.find == nil || c.ID == p.target.self {
		return Verdict{}, nil
	}
	d, err := c.ReadDoc(x)
	if err != nil {
		return Verdict{}, err
	}
	all := p.find.In(d.Text)
	return Verdict{Holds: len(all) > 0, Passages: all}, nil
}

func (p *passages) List(x *Scope, _ ListOptions, to Sink) {
	if p.find == nil {
		return
	}
	for all, err := range p.find.All(x.Ctx) {
		if err != nil {
			to.Take(Found{}, err)
			return
		}
		if !to.Take(Found{ID: all[0].ID, Passages: all}, nil) {
			return
		}
	}
}

func (p *passages) Cost(*Scope) float64 {
	if p.find == nil {
		return 0
	}
	return similarCost + planCost(p.find.Plan())
}

func (p *passages) Explain(*Scope) []string {
	if p.find == nil {
		return []string{finding(p) + nothingInEmpty}
	}
	plan, err := p.find.Plan()
	return append([]string{"compare texts"}, explainParts(finding(p), plan, err)...)
}

func (p *passages) Rows(x *Scope) float64 { return x.Documents() * similarShare }
func (p *passages) TestCost() TestCost    { return TestText }
func (p *passages) Measure() Measure      { return Places }
func (p *passages) Order() Order          { return AnyOrder }

// String writes the predicate in the query language.
func (p *passages) String() string { return fmt.Sprintf("PASSAGES(%s, %d)", p.target.label(), p.words) }
