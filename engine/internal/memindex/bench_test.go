package memindex

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/internal/kernel"
)

func uniform(n int) []uint64 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	fps := make([]uint64, n)
	for i := range fps {
		fps[i] = r.Uint64()
	}
	return fps
}

func BenchmarkAdd(b *testing.B) {
	fps := uniform(64000)
	for b.Loop() {
		New(fps, 0)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(fps)), "ns/fingerprint")
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{2048, 8192, 64000, 256000} {
		fps := uniform(n)
		x := New(fps, 0)
		queries := uniform(5000)
		for _, k := range []int{0, 3, 4, 6, 7, 8, 10, 11, 12} {
			b.Run(fmt.Sprintf("n=%d/k=%d", n, k), func(b *testing.B) {
				var s Searcher
				var dst []uint32
				i := 0
				for b.Loop() {
					dst, _, _ = s.visit(dst[:0], x, uint32(n), queries[i%len(queries)], k, 1<<30)
					i++
				}
				b.ReportMetric(Estimate(n, k).Cost, "planned-ns")
			})
		}
		b.Run(fmt.Sprintf("n=%d/scan", n), func(b *testing.B) {
			var dst []uint32
			i := 0
			for b.Loop() {
				dst = kernel.ScanFlat(dst[:0], fps, queries[i%len(queries)], 3)
				i++
			}
		})
	}
}
