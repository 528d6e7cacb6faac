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

// WithCounts returns a context whose searches add their work to sum, each once it has ended.
func WithCounts(ctx context.Context, sum *Counts) context.Context {
	return context.WithValue(ctx, countsKey{}, sum)
}

// report tells the counts to the context, if it collects them.
func (c Counts) report(ctx context.Context) {
	if sum, _ := ctx.Value(countsKey{}).(*Counts); sum != nil {
		atomic.AddInt64(&sum.Probes, c.Probes)
		atomic.AddInt64(&sum.Candidates, c.Candidates)
		atomic.AddInt64(&sum.Matches, c.Matches)
		atomic.AddInt64(&sum.Tables, c.Tables)
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
