//go:build unix

package hamming

import (
	"fmt"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/kernel"
)

// skewedData is like benchData, but blocks of 16 bits are more often small than not: the hottest
// lead of each table has one in sixteen of all fingerprints.
func skewedData(n, queries int) (fps, qs []uint64) {
	s := splitMix(43)
	code := func() (fp uint64) {
		for range 4 {
			u := float64(s.next()>>11) / (1 << 53)
			fp = fp<<16 | uint64(u*u*u*u*65536)
		}
		return fp
	}
	for range n {
		fps = append(fps, code())
	}
	for i := range queries {
		q := code()
		if i%2 == 0 {
			q = s.flip(fps[s.next()%uint64(n)], 1+int(s.next()%3))
		}
		qs = append(qs, q)
	}
	slices.Sort(fps)
	return fps, qs
}

// BenchmarkNearBatch reports the processor time per query in batches of several sizes, and for
// single queries.
func BenchmarkNearBatch(b *testing.B) {
	fps, queries := benchData(*benchN, 1_000_000)
	x, _ := mapRuns(b, DefaultLayout, fps)
	benchBatches(b, x, "uniform", queries, []int{0, 3, 6}, []int{100, 1000, 10_000, 100_000, 1_000_000})
}

// BenchmarkNearBatchSkewed is BenchmarkNearBatch for skewed fingerprints.
func BenchmarkNearBatchSkewed(b *testing.B) {
	fps, queries := skewedData(*benchN, 100_000)
	x, _ := mapRuns(b, DefaultLayout, fps)
	benchBatches(b, x, "skewed", queries, []int{0, 3, 6}, []int{1000, 100_000})
}

func benchBatches(b *testing.B, x *Index, data string, queries []uint64, ks, sizes []int) {
	s := new(Searcher)
	for _, k := range ks {
		for _, size := range append([]int{1}, sizes...) {
			b.Run(fmt.Sprintf("%s/n=%d/k=%d/batch=%d/%s", data, x.tables[0].run.Len(), k, size, kernel.Name()), func(b *testing.B) {
				hits, done, before := 0, 0, cpuTime()
				var dst []Hit
				var err error
				for b.Loop() {
					if size > 1 {
						some := queries[done%(len(queries)-size+1):][:size]
						err = s.Batch(b.Context(), x, some, k, func(int, Hit) error { hits++; return nil })
						done += size
					} else {
						for _, q := range queries[done%(len(queries)-100):][:100] {
							if dst, err = s.Near(x, q, k, dst[:0]); err != nil {
								break
							}
							hits += len(dst)
						}
						done += 100
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(cpuTime()-before)/float64(done), "cpu-ns/query")
				b.ReportMetric(float64(hits)/float64(done), "hits/query")
			})
		}
	}
}
