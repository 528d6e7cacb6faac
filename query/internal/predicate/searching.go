package predicate

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/simdb/simdb/engine"
)

// searching is the common part of NEAR, JACCARD, LEVENSHTEIN, COSINE, CONTAINS and WITHIN: the
// engine finds the documents for which they hold, except the target's own.
type searching struct {
	target  target
	by      engine.Criterion
	nothing string                                                           // why no document can match, in the words of EXPLAIN; "" if some may
	setup   float64                                                          // nanoseconds to begin a search
	match   func(ctx context.Context, id string) (engine.Match, bool, error) // engine.Snapshot.Matcher; nil before the first test
}

// score compares a document with the target.
func (p *searching) score(x *Scope, c *Candidate) (Verdict, error) {
	if p.nothing != "" { // an empty text names no document
		return Verdict{}, nil
	}
	if p.match == nil {
		var err error
		if p.match, err = x.Snap.Matcher(x.Ctx, p.target.doc, p.by); err != nil {
			return Verdict{}, err
		}
	}
	m, holds, err := p.match(x.Ctx, c.ID)
	if errors.Is(err, engine.ErrNotFound) {
		err = ErrGone
	}
	return Verdict{Holds: holds, Match: m}, err
}

// matches yields the matching documents: best first if they are to be ordered.
func (p *searching) matches(x *Scope, o ListOptions) iter.Seq2[engine.Match, error] {
	switch {
	case p.nothing != "":
		return func(func(engine.Match, error) bool) {}
	case !o.Ordered:
		return x.Snap.Search(x.Ctx, p.target.doc, p.by, &engine.SearchOptions{Unordered: true, Stats: x.Stats})
	case o.First > 0 && o.First < math.MaxInt:
		return x.Snap.Search(x.Ctx, p.target.doc, p.by, &engine.SearchOptions{Limit: o.First, Stats: x.Stats})
	}
	return x.Snap.Search(x.Ctx, p.target.doc, p.by, &engine.SearchOptions{Stats: x.Stats})
}

func (p *searching) List(x *Scope, o ListOptions, to Sink) {
	p.matches(x, o)(func(m engine.Match, err error) bool {
		return to.Take(Found{ID: m.ID, Match: m}, err) && err == nil
	})
}

func (p *searching) Count(x *Scope) (int64, error) {
	if p.nothing != "" {
		return 0, nil
	}
	return x.Snap.CountMatches(x.Ctx, p.target.doc, p.by, &engine.SearchOptions{Stats: x.Stats})
}

func (p *searching) Cost(x *Scope) float64 {
	if p.nothing != "" {
		return 0
	}
	return p.setup + planCost(x.Snap.Plan(x.Ctx, p.target.doc, p.by))
}

// Rows assumes that fingerprints are random, except for a few that are near for a reason.
func (p *searching) Rows(x *Scope) float64 {
	const few = 16
	share, n := similarShare, 0.0
	if p.by.Kind() == "near" {
		bits := float64(x.bits())
		share = math.Erfc((bits/2-float64(p.by.K())-0.5)/math.Sqrt(bits/2)) / 2 // by the normal distribution
	}
	parts, err := x.Snap.Plan(x.Ctx, p.target.doc, p.by)
	if p.nothing != "" || err != nil {
		return 0
	}
	for _, part := range parts {
		n += float64(part.Candidates)
	}
	return min(n, share*x.Documents()+few)
}

// explain implements Explain of a driver that embeds p.
func (p *searching) explain(x *Scope, d Driver) []string {
	if p.nothing != "" {
		return []string{finding(d) + p.nothing}
	}
	parts, err := x.Snap.Plan(x.Ctx, p.target.doc, p.by)
	return explainParts(finding(d), parts, err)
}
