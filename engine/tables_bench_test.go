//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// leastCPU returns the processor time of one of n operations, in the best of some rounds: noise only
// adds time.
func leastCPU(b *testing.B, rounds, n int, op func(i int) error) time.Duration {
	b.Helper()
	least := time.Hour
	for round := range rounds {
		start := cpuTime(b)
		for i := range n {
			must.Do(b, op(round*n+i))
		}
		least = min(least, (cpuTime(b)-start)/time.Duration(n))
	}
	return least
}

// reportMicros reports a duration in microseconds.
func reportMicros(b *testing.B, d time.Duration, name string) {
	b.ReportMetric(float64(d.Nanoseconds())/1000, name+"-us")
}

// wordTexts returns n texts of 30 words each, of a vocabulary of 20,000.
func wordTexts(n int) []string {
	r := rand.New(rand.NewPCG(3, 3))
	texts := make([]string, n)
	for i := range texts {
		words := make([]string, 30)
		for j := range words {
			words[j] = fmt.Sprintf("w%d", r.IntN(20_000))
		}
		texts[i] = strings.Join(words, " ")
	}
	return texts
}

// BenchmarkTables reads and writes databases of the same documents in different numbers of tables,
// without merges, and reports processor times: searches by NEAR, of which half are near a document,
// and by JACCARD, of which all are; Get of IDs that are not stored; Put of new documents. It also
// reports the heap that the searches leave in use, and the time to open and close the database.
// SIMDB_BENCH_N is the number of documents, 100,000 by default.
func BenchmarkTables(b *testing.B) {
	n, ctx := benchDocs(100_000), context.Background()
	texts := wordTexts(n)
	for _, parts := range []int{1, 3, 12, 20, 100} {
		b.Run(fmt.Sprintf("tables=%d", parts), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "db")
			o := &Options{NoSync: true, DisableAutoCompaction: true, MemtableBytes: 1 << 30}
			db := open4test(b, path, o)
			var near, similar []Doc
			r := rand.New(rand.NewPCG(4, 4))
			for part := range parts {
				var batch Batch
				for i := n * part / parts; i < n*(part+1)/parts; i++ {
					batch.Put(Doc{ID: fmt.Sprint("d", i), Text: texts[i]})
					if i%(n/min(n, 5000)) == 0 {
						words, _ := db.Hash(texts[i])
						near = append(near, ofPrint(words[0]^1<<r.IntN(64)^1<<r.IntN(64)), ofPrint(r.Uint64()))
						similar = append(similar, Doc{Text: texts[i][:len(texts[i])-8] + " another"})
					}
				}
				must.Do(b, db.Apply(ctx, &batch))
				must.Do(b, db.Flush(ctx))
			}
			must.Do(b, db.Close())
			reportMicros(b, leastCPU(b, 3, 5, func(int) error { return openAndClose(path, o) }), "open")

			db = open4test(b, path, o)
			if got := tables(b, db); got != parts {
				b.Fatalf("%d tables", got)
			}
			heap := heapBytes()
			runs := []struct {
				name string
				op   func(i int) error
			}{
				{"near", func(i int) error { return drain(db.Near(ctx, near[i%len(near)].Fingerprints[0][0], 3)) }},
				{"jaccard", func(i int) error { return drain(db.Jaccard(ctx, similar[i%len(similar)], 0.8)) }},
				{"get-none", func(i int) error {
					if _, err := db.Get(ctx, fmt.Sprint("none", i)); !errors.Is(err, ErrNotFound) {
						return fmt.Errorf("absent: %v", err)
					}
					return nil
				}},
			}
			for _, run := range runs { // blocks are verified on their first read, and indexes are made
				leastCPU(b, 1, 30_000, run.op)
			}
			heap = heapBytes() - heap
			for _, run := range runs {
				reportMicros(b, leastCPU(b, 8, 5000, run.op), run.name)
			}
			reportMicros(b, leastCPU(b, 8, 5000, func(i int) error {
				return db.Put(ctx, Doc{ID: fmt.Sprint("n", i), Fingerprints: []Fingerprint{{r.Uint64()}}})
			}), "put")
			b.ReportMetric(float64(heap)/1e6, "heap-MB")
			b.ReportMetric(0, "ns/op")
			must.Do(b, db.Close())
		})
	}
}

func openAndClose(path string, o *Options) error {
	db, err := Open(path, o)
	if err == nil {
		err = db.Close()
	}
	return err
}

// heapBytes returns the size of all objects that are in use.
func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // also what pools held
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkWide puts 40,000 documents with fingerprints of different widths one by one, and reports
// processor time, flushes until the database is closed, documents in the smallest table, and bytes
// of logs and tables written, for each document.
func BenchmarkWide(b *testing.B) {
	const n = 40_000
	for _, bits := range []int{64, 256, 512, 1024} {
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			words := make([]uint64, bits/64)
			least := time.Hour
			for range 3 {
				first := n // flush
				db := open4test(b, filepath.Join(b.TempDir(), "db"), &Options{Bits: bits, NoSync: true, OnEvent: func(e Event) {
					if e.Kind == "flush" && e.Docs > 0 {
						first = min(first, e.Docs)
					}
				}})
				least = min(least, leastCPU(b, 1, n, func(i int) error {
					for j := range words {
						words[j] = r.Uint64()
					}
					return db.Put(b.Context(), Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{slices.Clone(words)}})
				}))
				must.Do(b, db.Close()) // waits for flushes
				m := db.Metrics()
				b.ReportMetric(float64(m.Flushes), "flushes")
				b.ReportMetric(float64(first), "docs/flush")
				b.ReportMetric(float64(m.WALBytes+m.BytesFlushed+m.BytesCompacted)/n, "written/doc")
			}
			reportMicros(b, least, "put")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkAllow records single allowed pairs after many others, and reports the processor time of
// one.
func BenchmarkAllow(b *testing.B) {
	ctx := context.Background()
	db := open4test(b, filepath.Join(b.TempDir(), "db"), nil)
	pair := func(i int) Pair { return Pair{A: fmt.Sprintf("a%07d", i*7919%1_000_003), B: fmt.Sprintf("b%07d", i)} }
	have := 0
	for _, before := range []int{0, 10_000, 100_000, 400_000} {
		b.Run(fmt.Sprintf("before=%d", before), func(b *testing.B) {
			var more []Pair
			for ; have < before; have++ {
				more = append(more, pair(have))
			}
			if len(more) > 0 {
				must.Do(b, db.SetAllowed(ctx, true, more...))
			}
			written := db.Metrics().CatalogBytes
			reportMicros(b, leastCPU(b, 3, 50, func(int) error {
				have++
				return db.SetAllowed(ctx, true, pair(have-1))
			}), "allow")
			b.ReportMetric(float64(db.Metrics().CatalogBytes-written)/150, "catalog-bytes")
			b.ReportMetric(0, "ns/op")
		})
	}
}
