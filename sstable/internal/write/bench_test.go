package write

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/sstable/internal/hamming"
	"github.com/simdb/simdb/sstable/internal/table"
)

// BenchmarkRuns sorts and encodes the four permuted tables of sorted fingerprints.
func BenchmarkRuns(b *testing.B) {
	for _, n := range []int{1_000_000, 11_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(33, 34))
			fps := make([]uint64, n)
			for i := range fps {
				fps[i] = rng.Uint64()
			}
			fps, _ = ordered.Radix(fps, make([]uint64, n), 64)
			keys := make([]uint64, n)
			for b.Loop() {
				b.StopTimer()
				copy(keys, fps)
				w, err := NewBatchWriter(b.Context(), NewAsyncWriter(io.Discard), table.Params{Layout: hamming.DefaultLayout}, BatchOptions{Workers: 1})
				if err != nil {
					b.Fatal(err)
				}
				w.batch = &BatchOrder{Batch: &Batch{}, fps: keys, spare: make([]uint64, n)}
				b.StartTimer()
				if err := cmp.Or(w.writeFingerprints(), w.writePermuted()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/fp")
		})
	}
}
