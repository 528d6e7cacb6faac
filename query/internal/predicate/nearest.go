package predicate

import (
	"fmt"
	"iter"
	"math"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// nearest is NEAREST(target, n). Whether it holds for a document depends on all others, so it is
// computed for all at once, on first use.
type nearest struct {
	target target
	n      int

	computed bool
	matches  []engine.Match
	byID     map[string]int // index into matches
}

func bindNearest(x *Scope, e *syntax.Call) (Predicate, error) {
	n, err := x.Values.Integer(e.Args[1].Value, "the number of documents", 1, math.MaxInt)
	if err != nil {
		return nil, err
	}
	p := &nearest{n: n}
	return p, p.target.fingerprint(x, e.Args[0])
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
		if m.ID == p.target.self && m.ID != "" {
			continue
		}
		if len(p.matches) == p.n {
			break
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

// search yields the matches of the engine, among them p.target.self.
func (p *nearest) search(x *Scope) iter.Seq2[engine.Match, error] {
	if p.target.doc.Fingerprint == nil {
		return func(func(engine.Match, error) bool) {}
	}
	n := p.n
	if p.target.self != "" && n < math.MaxInt {
		n++ // it finds itself
	}
	return x.Snap.Search(x.Ctx, p.target.doc, engine.Near(x.bits()), &engine.SearchOptions{Limit: n})
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
	if p.target.doc.Fingerprint == nil {
		return 0
	}
	return 2 * planCost(x.Snap.Plan(x.Ctx, p.target.doc, engine.Near(x.bits()/8)))
}

func (p *nearest) Explain(*Scope) []string { return []string{finding(p)} }
func (p *nearest) Rows(*Scope) float64     { return float64(p.n) }
func (p *nearest) TestCost() TestCost      { return TestSet }
func (p *nearest) Measure() Measure        { return Distance }
func (p *nearest) Order() Order            { return ByDistance }

// String writes the predicate as the language does.
func (p *nearest) String() string { return fmt.Sprintf("NEAREST(%s, %d)", p.target.label(), p.n) }
