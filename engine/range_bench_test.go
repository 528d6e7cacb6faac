package engine

import (
	"context"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// BenchmarkEntries lists documents by their IDs and counts them by time, in the database of
// BenchmarkNear: the first of a prefix with many and with few documents, by an existing ID order
// and by a scan; all in order; and a prune that finds nothing in a table with older documents.
func BenchmarkEntries(b *testing.B) {
	db, _ := benchDB(b)
	ctx := context.Background()
	s := must.Get(db.Snapshot())(b)
	defer s.Close()
	list := func(f Range) func(b *testing.B) {
		return func(b *testing.B) {
			n, rows := 0, 0
			for b.Loop() {
				n++
				f.OnlyIDs = true
				for _, err := range entriesIn(ctx, s, f) {
					must.Do(b, err)
					if rows++; f.Limit > 0 && rows%f.Limit == 0 {
						break
					}
				}
			}
			b.ReportMetric(float64(rows)/float64(n), "rows/op")
		}
	}
	b.Run("in order", list(Range{})) // makes the ID order
	b.Run("many, LIMIT 10", list(Range{Prefix: "12", Limit: 10}))
	b.Run("few, LIMIT 10", list(Range{Prefix: "12345", Limit: 10}))
	b.Run("unordered", list(Range{Unordered: true}))
	e := must.Get(lookupOf(ctx, db, "1"))(b)
	b.Run("CountSince", func(b *testing.B) {
		for b.Loop() {
			must.Get(s.Count(ctx, Range{Since: e.Time.Add(time.Millisecond)}))(b)
		}
	})
	b.Run("prune nothing", func(b *testing.B) {
		for b.Loop() {
			if n, err := db.Prune(ctx, e.Time.Add(-time.Hour), nil); n != 0 || err != nil {
				b.Fatal(n, err)
			}
		}
	})
}
