package predicate

import (
	"fmt"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/query/internal/syntax"
)

// near is NEAR(target, k).
type near struct {
	searching
	k int
}

func bindNear(x *Scope, e *syntax.Call) (Predicate, error) {
	k, err := x.Values.Integer(e.Args[1].Value, "k", 0, x.bits())
	if err != nil {
		return nil, err
	}
	p := &x.near
	if x.nears++; x.nears > 1 {
		p = new(near)
	}
	p.k, p.by = k, engine.Near(k)
	err = p.target.fingerprint(x, e.Args[0])
	if p.target.doc.ID = p.target.self; p.target.doc.Fingerprints == nil {
		p.nothing = matchesNothing
	} else if text := p.target.text; text != nil && len(strings.Fields(*text)) <= fewWords && !x.DB.Options().NoText {
		x.ifEmpty = append(x.ifEmpty, "NEAR compares whole texts, and seldom finds one of so few words: write JACCARD(TEXT '...', 0.5), CONTAINS(TEXT '...', 0.8) or TEXT LIKE '%words%'")
	}
	return p, err
}

// fewWords is the length of texts whose fingerprints seldom agree unless the texts are equal.
const fewWords = 30

func bindNearCriterion(x *Scope, e *syntax.Criterion, estimate *syntax.Token) (engine.Criterion, error) {
	if estimate != nil {
		return engine.Criterion{}, EstimateError(estimate)
	}
	k, err := x.Values.Integer(e.Value, "k", 0, x.bits())
	return engine.Near(k), err
}

func (p *near) Test(x *Scope, c *Candidate) (Verdict, error) {
	if p.target.doc.Fingerprints == nil || c.ID == p.target.self {
		return Verdict{}, nil
	}
	e, err := c.ReadEntry(x)
	if err != nil {
		return Verdict{}, err
	}
	d, ok := leastDistance(e.Fingerprints, p.target.doc.Fingerprints)
	return Verdict{Holds: ok && d <= p.k, Match: engine.Match{ID: c.ID, Distance: d}}, nil
}

// leastDistance returns the smallest distance between fingerprints of two documents, and whether
// both have some.
func leastDistance(a, b []engine.Fingerprint) (least int, ok bool) {
	for _, x := range a {
		for _, y := range b {
			if d := base.DistanceWords(x, y); !ok || d < least {
				least, ok = d, true
			}
		}
	}
	return least, ok
}

func (p *near) Explain(x *Scope) []string { return p.explain(x, p) }
func (p *near) TestCost() TestCost        { return TestEntry }
func (p *near) Measure() Measure          { return Distance }
func (p *near) Order() Order              { return ByDistance }

// String writes the predicate in the query language.
func (p *near) String() string { return fmt.Sprintf("NEAR(%s, %d)", p.target.label(), p.k) }
