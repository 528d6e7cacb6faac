package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// BenchmarkNearWide searches fingerprints of 256 bits, uniform but for a tenth, which are copies
// with up to 31 bits flipped; half of the queries are near a stored one. SIMDB_BENCH_DOCS says how
// many there are.
func BenchmarkNearWide(b *testing.B) {
	n := 100_000
	if s := os.Getenv("SIMDB_BENCH_DOCS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	ctx := context.Background()
	db, _ := create4test(b, &Options{Bits: 256, NoSketch: true, NoText: true, Sync: SyncNever})
	l, err := db.NewLoader(ctx, LoadOptions{Replace: true})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	all := make([][4]Fingerprint, n)
	flipped := func(w [4]Fingerprint) [4]Fingerprint {
		for range 1 + r.IntN(31) {
			w[r.IntN(4)] ^= 1 << r.IntN(64)
		}
		return w
	}
	for i := range all {
		if all[i] = [4]Fingerprint{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}; i > 0 && i%10 == 0 {
			all[i] = flipped(all[r.IntN(i)])
		}
		d := Doc{ID: fmt.Sprintf("%08x", i)}
		d.SetFingerprint(all[i][:]...)
		if err := l.Add(d); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := l.Close(); err != nil {
		b.Fatal(err)
	}
	if err := db.Compact(ctx, nil); err != nil {
		b.Fatal(err)
	}
	st, err := db.Stats()
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range st.Tables {
		b.Logf("%d documents, layout %v, %d bytes, %.1f a fingerprint for its indexes", t.Documents, t.Layout, t.Bytes, t.BytesPerFingerprint)
	}
	queries := make([]Doc, 4096)
	for i := range queries {
		w := [4]Fingerprint{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
		if i%2 == 0 {
			w = flipped(all[r.IntN(n)])
		}
		queries[i].SetFingerprint(w[:]...)
	}
	s, err := db.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	for _, k := range []int{15, 31, 47} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			found, times := 0, []time.Duration{}
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				for _, err := range s.Search(ctx, queries[i%len(queries)], Near(k)) {
					if found++; err != nil {
						b.Fatal(err)
					}
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(found)/float64(b.N), "matches/op")
		})
	}
	b.Run("batch", func(b *testing.B) {
		for b.Loop() {
			for _, err := range s.SearchBatch(ctx, queries, Near(31)) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(queries)), "ns/query")
	})
}
