package predicate

import (
	"fmt"
	"iter"
	"math"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// nearest is NEAREST(target, n). Whether it holds for one document depends on all others, so the
// first use computes it for all of them.
type nearest struct {
	target  target
	by      engine.Criterion // holds for every document that can be among the n nearest
	n       int
	nothing bool // no document can be among them

	computed bool
	matches  []engine.Match
	byID     map[string]int // index into matches
}

// mostSimilar is NEAREST(target, n) BY JACCARD.
type mostSimilar struct{ *nearest }

// anySimilarity is less than the similarity of any two texts that share a shingle.
const anySimilarity = 1e-9

func bindNearest(x *Scope, e *syntax.Call) (Predicate, error) {
	n, err := x.Values.Integer(e.Args[1].Value, "the number of documents", 1, math.MaxInt)
	if err != nil {
		return nil, err
	}
	p := &nearest{n: n, by: engine.Near(x.bits())}
	err = p.target.fingerprint(x, e.Args[0])
	p.target.doc.ID, p.nothing = p.target.self, p.target.doc.Fingerprints == nil
	return p, err
}

func bindMostSimilar(x *Scope, e *syntax.Call, by syntax.Token) (Predicate, error) {
	n, err := x.Values.Integer(e.Args[1].Value, "the number of documents", 1, math.MaxInt)
	if err == nil {
		err = x.NeedSketches(by)
	}
	if err != nil {
		return nil, err
	}
	p := mostSimilar{&nearest{n: n, by: engine.Jaccard(anySimilarity)}}
	if p.target, err = x.sketchTarget(e.Args[0]); err == nil {
		p.nothing = x.isWordless(p.target)
	}
	return p, err
}

// compute fills matches and byID.
func (p *nearest) compute(x *Scope) error {
	if p.computed {
		return nil
	}
	p.byID = make(map[string]int)
	for m, err := range p.search(x) {
		if err != nil {
			return err
		}
		if err := x.Hold(matchBytes + len(m.ID)); err != nil {
			return err
		}
		p.byID[m.ID] = len(p.matches)
		p.matches = append(p.matches, m)
	}
	p.computed = true
	return nil
}

func (p *nearest) search(x *Scope) iter.Seq2[engine.Match, error] {
	if p.nothing {
		return func(func(engine.Match, error) bool) {}
	}
	return x.Snap.Search(x.Ctx, p.target.doc, p.by, &engine.SearchOptions{Limit: p.n, Stats: x.Stats})
}

func (p *nearest) Test(x *Scope, c *Candidate) (Verdict, error) {
	if err := p.compute(x); err != nil {
		return Verdict{}, err
	}
	i, ok := p.byID[c.ID]
	if !ok {
		return Verdict{}, nil
	}
	return Verdict{Holds: true, Match: p.matches[i]}, nil
}

func (p *nearest) List(x *Scope, _ ListOptions, to Sink) {
	if err := p.compute(x); err != nil {
		to.Take(Found{}, err)
		return
	}
	for _, m := range p.matches {
		if !to.Take(Found{ID: m.ID, Match: m}, nil) {
			return
		}
	}
}

func (p *nearest) Cost(x *Scope) float64 {
	if p.nothing {
		return 0
	}
	by := p.by
	if by.Kind() == "near" {
		by = engine.Near(x.bits() / 8)
	}
	return 2 * planCost(x.Snap.Plan(x.Ctx, p.target.doc, by))
}

func (p *nearest) Explain(*Scope) []string { return []string{finding(p)} }
func (p *nearest) Rows(*Scope) float64     { return float64(p.n) }
func (p *nearest) TestCost() TestCost      { return TestSet }
func (p *nearest) Measure() Measure        { return Distance }
func (p *nearest) Order() Order            { return ByDistance }

// String writes the predicate in the query language.
func (p *nearest) String() string { return fmt.Sprintf("NEAREST(%s, %d)", p.target.label(), p.n) }

// Estimate makes the predicate compare sketches.
func (p mostSimilar) Estimate()               { p.by = p.by.Estimated() }
func (p mostSimilar) Explain(*Scope) []string { return []string{finding(p)} }
func (p mostSimilar) Measure() Measure        { return Score }
func (p mostSimilar) Order() Order            { return ByScore }

// String writes the predicate in the query language.
func (p mostSimilar) String() string {
	s := p.nearest.String() + " BY JACCARD"
	if p.by.IsEstimated() {
		s += " ESTIMATE"
	}
	return s
}
