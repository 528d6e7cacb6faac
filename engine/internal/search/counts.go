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

// A Counter takes the counts of searches. It must be safe for concurrent use.
type Counter interface{ Add(Counts) }

// WithCounts returns a context whose searches report their work to c, each once it has ended.
func WithCounts(ctx context.Context, c Counter) context.Context {
	return context.WithValue(ctx, countsKey{}, c)
}

// report tells the counts to the context, if it collects them.
func (c Counts) report(ctx context.Context) {
	if to, _ := ctx.Value(countsKey{}).(Counter); to != nil {
		to.Add(c)
	}
}

// Bytes that a query holds for each thing that it has found, while a slice of them grows.
const (
	nearHitBytes    = 2 * 56
	jaccardHitBytes = 2 * 72
	batchMatchBytes = 2 * 120
	EntryBytes      = 2 * 48
)

// MostFirst is how many things a query may keep the first of while they are found, instead of all
// of them.
const MostFirst = 1 << 16
