package sieve

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkAdd measures what a sieve takes of the fingerprints of a table, in their order.
func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	fps := make([]uint64, 20_000_000)
	for i := range fps {
		fps[i] = r.Uint64()
	}
	slices.Sort(fps)
	s := NewBuilder(50_000_000)
	for b.Loop() {
		s.Add(fps)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(fps)), "ns/fingerprint")
}
