package engine

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// BenchmarkNearWide searches fingerprints of SIMDB_BENCH_BITS bits (64 or more), uniform except for
// a tenth, which are copies with up to an eighth of the bits flipped; half of the queries are near
// a stored one. SIMDB_BENCH_DOCS is the number of documents, SIMDB_BENCH_K the distance.
func BenchmarkNearWide(b *testing.B) {
	number := func(name string, usual int) int {
		n, _ := strconv.Atoi(os.Getenv(name))
		return cmp.Or(n, usual)
	}
	n, bits, ctx := number("SIMDB_BENCH_DOCS", 100_000), number("SIMDB_BENCH_BITS", 256), context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	random := func() (words []uint64) {
		for range bits / 64 {
			words = append(words, r.Uint64())
		}
		return words
	}
	flipped := func(words []uint64) []uint64 {
		words = slices.Clone(words)
		for range 1 + r.IntN(bits/8-1) {
			words[r.IntN(len(words))] ^= 1 << r.IntN(64)
		}
		return words
	}
	db, _ := create4test(b, &Options{Bits: bits, NoSketch: true, NoText: true, NoSync: true})
	l := must.Get(db.NewLoader(ctx, &LoadOptions{Replace: true}))(b)
	all, start := make([][]uint64, n), time.Now()
	for i := range all {
		if all[i] = random(); i > 0 && i%10 == 0 {
			all[i] = flipped(all[r.IntN(i)])
		}
		d := Doc{ID: fmt.Sprintf("%08x", i)}
		d.Fingerprints = []Fingerprint{all[i]}
		must.Do(b, l.Add(d))
	}
	must.Get(l.Close())(b)
	must.Do(b, db.Compact(ctx, nil))
	st := must.Get(db.Stats())(b)
	for _, t := range st.Tables {
		b.Logf("%d documents in %v, layout %v, %.1f bytes of indexes a fingerprint", t.Documents, time.Since(start), t.Layout, t.BytesPerFingerprint)
	}
	queries := make([]Doc, 1<<17)
	for i := range queries {
		words := random()
		if i%2 == 0 {
			words = flipped(all[r.IntN(n)])
		}
		queries[i].Fingerprints = []Fingerprint{words}
	}
	s := must.Get(db.Snapshot())(b)
	b.Cleanup(func() { s.Close() })
	for _, text := range strings.Split(cmp.Or(os.Getenv("SIMDB_BENCH_K"), "15,31,47"), ",") {
		k, _ := strconv.Atoi(text)
		b.Run("k="+text, func(b *testing.B) {
			found, times := 0, []time.Duration{}
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				for _, err := range s.Search(ctx, queries[i%len(queries)], Near(k), nil) {
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
		b.Run("batch/k="+text, func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.SearchBatch(ctx, queries, Near(k), nil) {
					must.Do(b, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(queries)), "ns/query")
		})
		b.Run("pairs/k="+text, func(b *testing.B) {
			pairs := int64(0)
			for b.Loop() {
				var err error
				pairs, err = s.CountPairs(ctx, Near(k), nil)
				must.Do(b, err)
			}
			b.ReportMetric(float64(pairs), "pairs")
		})
	}
}
