package predicate

import (
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// A textMeasure makes the criterion that compares texts by a measure, with a threshold.
type textMeasure func(threshold float64) engine.Criterion

var (
	levenshtein textMeasure = engine.Levenshtein
	cosine      textMeasure = engine.Cosine
	contains    textMeasure = engine.Contains
	within      textMeasure = engine.Within
)

// similar is LEVENSHTEIN(target, t), COSINE, CONTAINS or WITHIN: the similarity of the document's
// text and another text is at least t.
type similar struct {
	searching
	word      string
	threshold float64
}

// bind resolves a predicate that compares texts by the measure.
func (m textMeasure) bind(x *Scope, e *syntax.Call) (Predicate, error) {
	share, err := x.Values.Share(e.Args[1].Value)
	if err != nil {
		return nil, err
	}
	t, err := x.textTarget(e.Name.Value, e.Args[0])
	if err != nil {
		return nil, err
	}
	p := &similar{
		searching: searching{target: t, by: m(share), setup: similarCost},
		word:      e.Name.Value, threshold: share,
	}
	if t.doc.Text == "" {
		p.nothing = nothingInEmpty
	}
	return p, x.NeedTexts(e.Name)
}

// criterion resolves the measure after PAIRS, CLUSTERS and UNLESS.
func (m textMeasure) criterion(x *Scope, e *syntax.Criterion, estimate *syntax.Token) (engine.Criterion, error) {
	if estimate != nil {
		return engine.Criterion{}, EstimateError(estimate)
	}
	if err := x.NeedTexts(e.Word); err != nil {
		return engine.Criterion{}, err
	}
	t, err := x.Values.Share(e.Value)
	return m(t), err
}

func (p *similar) Test(x *Scope, c *Candidate) (Verdict, error) {
	if c.ID == p.target.self {
		return Verdict{}, nil
	}
	return p.score(x, c)
}

func (p *similar) Explain(x *Scope) []string {
	lines := p.explain(x, p)
	if p.nothing == "" {
		lines = append([]string{"compare texts"}, lines...)
	}
	return lines
}

func (p *similar) TestCost() TestCost { return TestText }
func (p *similar) Measure() Measure   { return ExactScore }
func (p *similar) Order() Order       { return ByScore }

// String writes the predicate in the query language.
func (p *similar) String() string {
	return fmt.Sprintf("%s(%s, %g)", p.word, p.target.label(), p.threshold)
}
