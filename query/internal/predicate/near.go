package predicate

import (
	"fmt"
	"iter"
	"math"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/query/internal/syntax"
)

// near is NEAR(target, k).
type near struct {
	target target
	k      int
}

func bindNear(x *Scope, e *syntax.Call) (Predicate, error) {
	k, err := x.Values.Integer(e.Args[1].Value, "k", 0, base.FingerprintBits)
	if err != nil {
		return nil, err
	}
	t, err := x.fingerprintTarget(e.Args[0])
	return &near{target: t, k: k}, err
}

func bindNearCriterion(x *Scope, e *syntax.Criterion, verify *syntax.Token) (engine.Criterion, error) {
	if verify != nil {
		return engine.Criterion{}, syntax.Errorf(verify.Pos.Offset, VerifyHint, "VERIFY needs JACCARD")
	}
	k, err := x.Values.Integer(e.Value, "k", 0, base.FingerprintBits)
	return engine.Near(k), err
}

func (p *near) Test(x *Scope, c *Candidate) (Verdict, error) {
	if !p.target.hasFingerprint || c.ID == p.target.self {
		return Verdict{}, nil
	}
	e, err := c.ReadEntry(x)
	if err != nil {
		return Verdict{}, err
	}
	d := base.Distance(e.Fingerprint, p.target.fingerprint)
	return Verdict{Holds: e.HasFingerprint && d <= p.k, Match: engine.Match{ID: c.ID, Distance: d}}, nil
}

// matches yields the matches of the engine, among them p.target.self.
func (p *near) matches(x *Scope, o ListOptions) iter.Seq2[engine.Match, error] {
	switch {
	case !p.target.hasFingerprint:
		return none
	case !o.Ordered:
		return x.Snap.NearUnordered(x.Ctx, p.target.fingerprint, p.k)
	case o.First > 0 && o.First < math.MaxInt:
		return x.Snap.NearFirst(x.Ctx, p.target.fingerprint, p.k, o.First+1)
	}
	return x.Snap.Near(x.Ctx, p.target.fingerprint, p.k)
}

func (p *near) List(x *Scope, o ListOptions) iter.Seq2[Found, error] {
	return foundMatches(p.matches(x, o), p.target.self)
}

func (p *near) Count(x *Scope) (int64, error) {
	if !p.target.hasFingerprint {
		return 0, nil
	}
	n, err := x.Snap.CountNear(x.Ctx, p.target.fingerprint, p.k)
	if p.target.self != "" {
		n-- // it finds itself
	}
	return n, err
}

func (p *near) Cost(x *Scope) float64 {
	if !p.target.hasFingerprint {
		return 0
	}
	return x.nearCost(&p.target, p.k)
}

func (p *near) Explain(x *Scope) []string {
	if !p.target.hasFingerprint {
		return []string{finding(p) + matchesNothing}
	}
	plan, err := x.Snap.PlanNear(x.Ctx, p.target.fingerprint, p.k)
	return explainParts(finding(p), plan.Parts, err)
}

func (p *near) TestCost() TestCost { return TestEntry }
func (p *near) Measure() Measure   { return Distance }
func (p *near) Order() Order       { return ByDistance }

// String writes the predicate as the language does.
func (p *near) String() string { return fmt.Sprintf("NEAR(%s, %d)", p.target.label, p.k) }
