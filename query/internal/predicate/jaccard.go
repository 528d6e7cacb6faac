package predicate

import (
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// jaccard is JACCARD(target, t), which compares texts or, with ESTIMATE, sketches. As a driver it
// lists the documents that the engine finds. As a test it compares the first manyScored documents
// one by one, and then lists all matches once.
type jaccard struct {
	searching
	scored int // documents compared
	all    map[string]engine.Match
}

// manyScored is how many documents are compared one by one. That many comparisons cost about as
// much as a search among some 100,000 documents.
const manyScored = 64

func bindJaccard(x *Scope, e *syntax.Call) (Predicate, error) {
	share, err := x.Values.Share(e.Args[1].Value)
	if err != nil {
		return nil, err
	}
	if err := x.NeedSketches(e.Name); err != nil {
		return nil, err
	}
	t, err := x.sketchTarget(e.Args[0])
	if err != nil {
		return nil, err
	}
	p := &jaccard{searching: searching{target: t, by: engine.Jaccard(share), setup: jaccardCost}}
	if x.isWordless(t) {
		p.nothing = matchesNothing
	}
	return p, nil
}

// isWordless reports whether a target is a text without features.
func (x *Scope) isWordless(t target) bool {
	if t.self != "" && t.doc.Text == "" { // the document is stored, so the search checks
		return false
	}
	words, _ := x.DB.Hash(t.doc.Text)
	return words == nil
}

func bindJaccardCriterion(x *Scope, e *syntax.Criterion, estimate *syntax.Token) (engine.Criterion, error) {
	if err := x.NeedSketches(e.Word); err != nil {
		return engine.Criterion{}, err
	}
	t, err := x.Values.Share(e.Value)
	x.noTexts("", "NEAR 3")
	if estimate == nil {
		return engine.Jaccard(t), err
	}
	return engine.Jaccard(t).Estimated(), err
}

// EstimateError returns the error for ESTIMATE without JACCARD.
func EstimateError(word *syntax.Token) error {
	return syntax.Errorf(word.Pos.Offset, "it makes JACCARD compare sketches", "ESTIMATE needs JACCARD")
}

// sketchTarget resolves an argument of JACCARD: a document's id, whose sketch is stored, or a text.
func (x *Scope) sketchTarget(a *syntax.Argument) (target, error) {
	v, err := x.targetValue(a)
	if id, ok := v.(string); ok && err == nil {
		if _, err := x.Snap.Lookup(x.Ctx, id); err != nil {
			return target{}, x.LookupError(a.Value.Pos.Offset, id, err)
		}
		x.noTexts(id, "NEAR("+value.Label(id)+", 3)")
		return target{doc: engine.Doc{ID: id}, self: id}, nil
	}
	return x.textTarget("JACCARD", a)
}

func (p *jaccard) Test(x *Scope, c *Candidate) (Verdict, error) {
	if p.nothing != "" {
		return Verdict{}, nil
	}
	if p.all == nil && p.scored >= manyScored {
		if err := p.computeAll(x); err != nil {
			return Verdict{}, err
		}
	}
	if p.all != nil {
		m, holds := p.all[c.ID]
		return Verdict{Holds: holds, Match: m}, nil
	}
	p.scored++
	return p.score(x, c)
}

func (p *jaccard) computeAll(x *Scope) error {
	p.all = make(map[string]engine.Match)
	for m, err := range p.matches(x, ListOptions{Ordered: true}) {
		if err != nil {
			return err
		}
		if err := x.Hold(matchBytes + len(m.ID)); err != nil {
			return err
		}
		p.all[m.ID] = m
	}
	return nil
}

func (p *jaccard) Explain(x *Scope) []string {
	lines := p.explain(x, p)
	if p.nothing == "" && !p.by.IsEstimated() && !x.DB.Options().NoText {
		lines = append([]string{"compare texts"}, lines...)
	}
	return lines
}

// Estimate makes the predicate compare sketches.
func (p *jaccard) Estimate() { p.by = p.by.Estimated() }

func (p *jaccard) TestCost() TestCost { return TestSet }
func (p *jaccard) Measure() Measure   { return Score }
func (p *jaccard) Order() Order       { return ByScore }

// String writes the predicate in the query language.
func (p *jaccard) String() string {
	s := fmt.Sprintf("JACCARD(%s, %g)", p.target.label(), p.by.T())
	if p.by.IsEstimated() {
		s += " ESTIMATE"
	}
	return s
}
