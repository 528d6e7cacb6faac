package predicate

import (
	"context"
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// similarity returns a function that compares other texts with text. That function returns the
// similarity, and true if it is at least the threshold.
type similarity func(text string, threshold float64) func(ctx context.Context, other string) (float64, bool)

// similar is LEVENSHTEIN(target, t) or COSINE(target, t): the document's text is at least that
// similar to a text. It can't list documents.
type similar struct {
	word      string
	target    target
	threshold float64
	compare   func(ctx context.Context, other string) (float64, bool)
}

// bindSimilar returns the Bind of a predicate that compares texts by a similarity.
func bindSimilar(by similarity) func(*Scope, *syntax.Call) (Predicate, error) {
	return func(x *Scope, e *syntax.Call) (Predicate, error) {
		share, err := x.Values.Share(e.Args[1].Value)
		if err != nil {
			return nil, err
		}
		t, err := x.textTarget(e.Name.Value, e.Args[0])
		if err != nil {
			return nil, err
		}
		p := &similar{word: e.Name.Value, target: t, threshold: share, compare: by(t.doc.Text, share)}
		return p, x.NeedTexts(e.Name)
	}
}

func (p *similar) Test(x *Scope, c *Candidate) (Verdict, error) {
	if c.ID == p.target.self {
		return Verdict{}, nil
	}
	d, err := c.ReadDoc(x)
	if err != nil {
		return Verdict{}, err
	}
	s, ok := p.compare(x.Ctx, d.Text)
	return Verdict{Holds: ok, Match: engine.Match{ID: c.ID, Score: s, Exact: true}}, x.Ctx.Err()
}

func (p *similar) TestCost() TestCost { return TestText }
func (p *similar) Measure() Measure   { return ExactScore }

// String writes the predicate as the language does.
func (p *similar) String() string {
	return fmt.Sprintf("%s(%s, %g)", p.word, p.target.label, p.threshold)
}
