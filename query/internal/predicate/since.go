package predicate

import (
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// BindSince resolves SINCE 2d.
func BindSince(x *Scope, e *syntax.Since) (Predicate, error) {
	t, err := x.Values.Moment(e.Value, x.Now())
	return &since{t}, err
}

// since is SINCE 2d: the document was stored at that time or later.
type since struct {
	time time.Time
}

func (p *since) Test(x *Scope, c *Candidate) (Verdict, error) {
	e, err := c.ReadEntry(x)
	if err != nil {
		return Verdict{}, err
	}
	return Verdict{Holds: !e.Time.Before(p.time)}, nil
}

func (p *since) List(x *Scope, o ListOptions, to Sink) { x.scan(p, o, to) }

func (p *since) narrow(s *scan) {
	if p.time.After(s.since) {
		s.since = p.time
	}
}

// Count counts without reading a document.
func (p *since) Count(x *Scope) (int64, error) {
	return x.Snap.Count(x.Ctx, engine.Range{Since: p.time})
}

func (p *since) Cost(x *Scope) float64     { return (listCost+timeCost)*x.Documents() + 2 }
func (p *since) Rows(x *Scope) float64     { return x.Selects(p, ListOptions{}) }
func (p *since) Explain(x *Scope) []string { return ExplainScan(x, p, ListOptions{}) }
func (p *since) TestCost() TestCost        { return TestEntry }
func (p *since) Measure() Measure          { return NoMeasure }
func (p *since) Order() Order              { return ByID }

// String writes the predicate in the query language.
func (p *since) String() string { return "SINCE '" + p.time.UTC().Format(time.RFC3339Nano) + "'" }
