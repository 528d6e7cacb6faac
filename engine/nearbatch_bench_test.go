//go:build unix

package engine

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time of the process, which other processes disturb less than the clock.
func cpuTime(b testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Error(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkNearBatch reports the processor time a query takes in batches of several sizes, and
// singly, IDs included.
func BenchmarkNearBatch(b *testing.B) {
	db, some := benchDB(b)
	r := rand.New(rand.NewPCG(8, 8))
	queries := make([]uint64, 1_000_000)
	for i := range queries {
		if queries[i] = r.Uint64(); i%2 == 0 {
			queries[i] = some[2*r.IntN(len(some)/2)] ^ 1<<r.IntN(64)
		}
	}
	ctx := context.Background()
	for _, k := range []int{0, 3, 6} {
		for _, size := range []int{1, 100, 1000, 10_000, 100_000, len(queries)} {
			b.Run(fmt.Sprintf("k=%d/batch=%d", k, size), func(b *testing.B) {
				found, done, before := 0, 0, cpuTime(b)
				for b.Loop() {
					if size == 1 {
						found += countAll(b, db.Near(ctx, queries[done%len(queries)], k))
					} else {
						found += countAll(b, searchBatch(ctx, db, ofPrints(queries[done%(len(queries)-size+1):][:size]), Near(k)))
					}
					done += size
				}
				b.ReportMetric(float64(cpuTime(b)-before)/float64(done), "cpu-ns/query")
				b.ReportMetric(float64(found)/float64(done), "matches/query")
			})
		}
	}
}

// countAll counts what an iterator yields.
func countAll[T any](b *testing.B, all iter.Seq2[T, error]) (n int) {
	for _, err := range all {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	return n
}

// BenchmarkFirst reports the processor time of each of the first 10,000 searches in tables that are
// in memory but have not been read by the process, and of each of 10,000 after 230,000 others.
func BenchmarkFirst(b *testing.B) {
	db, queries := benchDB(b)
	if err := db.Compact(context.Background()); err != nil {
		b.Fatal(err)
	}
	var first, later time.Duration
	for b.Loop() {
		db, err := Open(benchPath(), &Options{ReadOnly: true, MustExist: true})
		if err != nil {
			b.Fatal(err)
		}
		for round := range 24 {
			start := cpuTime(b)
			for _, q := range queries {
				for _, err := range db.Near(context.Background(), q^uint64(round)<<40, 3) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			switch took := cpuTime(b) - start; round {
			case 0:
				first += took
			case 23:
				later += took
			}
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
	each := float64(b.N * len(queries))
	b.ReportMetric(float64(first.Nanoseconds())/each, "first-cpu-ns")
	b.ReportMetric(float64(later.Nanoseconds())/each, "later-cpu-ns")
}
