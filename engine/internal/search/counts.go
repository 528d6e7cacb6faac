package search

import "context"

// Counts is the work of a search; engine.QueryStats documents the fields.
type Counts struct {
	Probes     int64
	Candidates int64
	Matches    int64
	Tables     int64
}

type countsKey struct{}

// WithCounts returns a context whose searches report their work to add, each once it has ended. Add
// must be safe for concurrent use.
func WithCounts(ctx context.Context, add func(Counts)) context.Context {
	return context.WithValue(ctx, countsKey{}, add)
}

// report tells the counts to the context, if it collects them.
func (c Counts) report(ctx context.Context) {
	if add, _ := ctx.Value(countsKey{}).(func(Counts)); add != nil {
		add(c)
	}
}
