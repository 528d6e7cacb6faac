package search

import (
	"context"
	"sync/atomic"
)

// Counts is the work of a search; engine.QueryStats documents the fields.
type Counts struct {
	Probes     int64
	Candidates int64
	Matches    int64
	Tables     int64
}

type countsKey struct{}

// WithCounts returns a context whose searches add their counts to sum, each when it has ended.
func WithCounts(ctx context.Context, sum *Counts) context.Context {
	return context.WithValue(ctx, countsKey{}, sum)
}

// report adds the counts to the counters of the context, if it has any.
func (c Counts) report(ctx context.Context) {
	if sum, _ := ctx.Value(countsKey{}).(*Counts); sum != nil {
		atomic.AddInt64(&sum.Probes, c.Probes)
		atomic.AddInt64(&sum.Candidates, c.Candidates)
		atomic.AddInt64(&sum.Matches, c.Matches)
		atomic.AddInt64(&sum.Tables, c.Tables)
	}
}

// Memory in bytes for each result of a query, while a slice of results grows.
const (
	nearHitBytes    = 2 * 56
	jaccardHitBytes = 2 * 72
	batchMatchBytes = 2 * 120
	EntryBytes      = 2 * 48
)

// MostFirst is the largest limit for which a query holds only the first results instead of all.
const MostFirst = 1 << 16
