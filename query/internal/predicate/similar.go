package predicate

import (
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/textsim"
	"github.com/simdb/simdb/query/internal/syntax"
)

// textMeasure is a way to compare texts.
type textMeasure struct {
	by      func(threshold float64) engine.Criterion
	compare func(text string, threshold float64) textsim.Compare
}

var (
	levenshtein = textMeasure{engine.Levenshtein, textsim.Levenshtein}
	cosine      = textMeasure{engine.Cosine, textsim.Cosine}
)

// similar is LEVENSHTEIN(target, t) or COSINE(target, t): the document's text is at least that
// similar to a text.
type similar struct {
	searching
	word      string
	threshold float64
	compare   textsim.Compare
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
		searching: searching{target: t, by: m.by(share), setup: similarCost},
		word:      e.Name.Value, threshold: share, compare: m.compare(t.doc.Text, share),
	}
	if t.doc.Text == "" {
		p.nothing = ": an empty text matches nothing"
	}
	return p, x.NeedTexts(e.Name)
}

// criterion resolves the measure after PAIRS, CLUSTERS and UNLESS.
func (m textMeasure) criterion(x *Scope, e *syntax.Criterion, verify *syntax.Token) (engine.Criterion, error) {
	if verify != nil {
		return engine.Criterion{}, syntax.Errorf(verify.Pos.Offset, VerifyHint, "VERIFY needs JACCARD")
	}
	if err := x.NeedTexts(e.Word); err != nil {
		return engine.Criterion{}, err
	}
	t, err := x.Values.Share(e.Value)
	return m.by(t), err
}

func (p *similar) Test(x *Scope, c *Candidate) (Verdict, error) {
	if c.ID == p.target.self {
		return Verdict{}, nil
	}
	d, err := c.ReadDoc(x)
	if err != nil {
		return Verdict{}, err
	}
	s, ok := p.compare(x.Ctx, []byte(d.Text))
	return Verdict{Holds: ok, Match: engine.Match{ID: c.ID, Score: s, Exact: true}}, x.Ctx.Err()
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

// String writes the predicate as the language does.
func (p *similar) String() string {
	return fmt.Sprintf("%s(%s, %g)", p.word, p.target.label, p.threshold)
}
