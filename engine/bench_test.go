package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/internal/must"
)

// benchSize is the number of fingerprints for benchmarks: SIMDB_BENCH_N, a million by default.
func benchSize() int { return benchDocs(1_000_000) }

// benchDocs is SIMDB_BENCH_N, or usual if that is not set.
func benchDocs(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("SIMDB_BENCH_N")); err == nil && n > 0 {
		return n
	}
	return usual
}

// benchPath is the path of benchDB's database.
func benchPath() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("simdb-bench-%d.simdb", benchSize()))
}

// benchDB is a database of n uniform fingerprints and n/10 copies with 1 to 3 bits flipped, in one
// table. It also returns queries, half of which are near copies of stored fingerprints.
func benchDB(b *testing.B) (*DB, []uint64) {
	b.Helper()
	n, path := benchSize(), benchPath()
	r := rand.New(rand.NewPCG(42, 42))
	fps := make([]uint64, 0, n+n/10)
	for range n {
		fps = append(fps, r.Uint64())
	}
	for i := 0; i < n; i += 10 {
		fps = append(fps, fps[i]^1<<r.IntN(64)^1<<r.IntN(64)^1<<r.IntN(64))
	}
	queries := make([]uint64, 10000)
	for i := range queries {
		if queries[i] = r.Uint64(); i%2 == 0 {
			queries[i] = fps[r.IntN(len(fps))] ^ 1<<r.IntN(64) ^ 1<<r.IntN(64)
		}
	}
	if db, err := Open(path, &Options{MustExist: true}); err == nil {
		b.Cleanup(func() { db.Close() })
		return db, queries
	}
	db := must.Get(Create(path, &Options{NoText: true}))(b)
	b.Cleanup(func() { db.Close() })
	l := must.Get(db.NewLoader(context.Background(), &LoadOptions{MemoryBytes: 8 << 30}))(b)
	start := time.Now()
	for i, fp := range fps {
		must.Do(b, l.Add(Doc{ID: strconv.Itoa(i), Fingerprints: []Fingerprint{{fp}}}))
	}
	must.Get(l.Close())(b)
	b.Logf("loaded %d documents, %v each", len(fps), time.Since(start)/time.Duration(len(fps)))
	return db, queries
}

// BenchmarkNear finds near-duplicates through the public API and reports the median and the 99th
// percentile.
func BenchmarkNear(b *testing.B) {
	db, queries := benchDB(b)
	ctx := context.Background()
	for _, k := range []int{3, 6, 10} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			var times []time.Duration
			var st QueryStats
			sctx := search.WithCounts(ctx, (*search.Counts)(&st)) // as SearchOptions.Stats does
			i := 0
			for b.Loop() {
				start := time.Now()
				for _, err := range db.Near(sctx, queries[i%len(queries)], k) {
					must.Do(b, err)
				}
				times = append(times, time.Since(start))
				i++
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
			b.ReportMetric(float64(st.Candidates)/float64(i), "candidates/op")
		})
	}
}
