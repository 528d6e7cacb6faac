//go:build unix

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// orderedDB is a database of n documents of about 60 bytes of fields, put in random order, a
// thousand at a time, and compacted; or not compacted, in five tables. It reports the processor
// time of a Put and the bytes of a document.
func orderedDB(b *testing.B, n int, fingerprints, compacted bool) *DB {
	b.Helper()
	path := filepath.Join(os.TempDir(), fmt.Sprintf("simdb-order-%d-%v-%v.simdb", n, fingerprints, compacted))
	ctx := context.Background()
	if db, err := Open(path, &Options{MustExist: true}); err == nil {
		b.Cleanup(func() { db.Close() })
		return db
	}
	db := must.Get(Create(path, &Options{NoSync: true, DisableAutoCompaction: !compacted}))(b)
	b.Cleanup(func() { db.Close() })
	r := rand.New(rand.NewPCG(1, 2))
	start := cpuTime(b)
	var batch Batch
	for i := range n {
		k := int(int64(i) * 7919 % int64(n))
		d := Doc{ID: fmt.Sprintf("user/%08d/profile", k), Fields: json.RawMessage(fmt.Sprintf(`{"name":"user %d","age":%d,"city":"city %d","score":%d}`, k, r.IntN(90), r.IntN(1000), r.IntN(1e6)))}
		if fingerprints {
			d.Fingerprints = []Fingerprint{{r.Uint64()}}
		}
		batch.Put(d)
		if batch.Len() == 1000 || i == n-1 {
			must.Do(b, db.Apply(ctx, &batch))
			batch = Batch{}
		}
		if !compacted && (i+1)%(n/5) == 0 {
			must.Do(b, db.Flush(ctx))
		}
	}
	must.Do(b, db.Flush(ctx))
	b.Logf("put: %.2f us a document", float64(cpuTime(b)-start)/1000/float64(n))
	if compacted {
		start = cpuTime(b)
		must.Do(b, db.Compact(ctx, nil))
		b.Logf("compact: %.2f us a document", float64(cpuTime(b)-start)/1000/float64(n))
	}
	st := must.Get(db.Stats())(b)
	b.Logf("%d tables, %.1f bytes a document", len(st.Tables), float64(st.DiskBytes)/float64(n))
	return db
}

// BenchmarkOrder reads pages of 100 documents in the order of IDs from random IDs, and all
// documents in order, with values, of SIMDB_BENCH_ORDER documents (300,000 by default).
func BenchmarkOrder(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("SIMDB_BENCH_ORDER"))
	if err != nil {
		n = 300_000
	}
	for _, fingerprints := range []bool{false, true} {
		for _, compacted := range []bool{true, false} {
			b.Run(fmt.Sprintf("fingerprints=%v/compacted=%v", fingerprints, compacted), func(b *testing.B) {
				db := orderedDB(b, n, fingerprints, compacted)
				for _, reverse := range []bool{false, true} {
					benchPages(b, fmt.Sprintf("page/reverse=%v", reverse), db, n, Range{Reverse: reverse, Load: true, Limit: 100})
				}
				benchPages(b, "page/IDs", db, n, Range{OnlyIDs: true, Limit: 100})
				benchScan(b, "scan", db, n, Range{Load: true})
				benchScan(b, "scan/IDs", db, n, Range{OnlyIDs: true})
			})
		}
	}
}

func benchPages(b *testing.B, name string, db *DB, n int, r Range) {
	b.Run(name, func(b *testing.B) {
		rng := rand.New(rand.NewPCG(3, 4))
		b.ReportAllocs()
		start, pages := cpuTime(b), 0
		for b.Loop() {
			r.After = fmt.Sprintf("user/%08d", 100+rng.IntN(n-200))
			docs := 0
			for d, err := range db.Range(b.Context(), r) {
				if err != nil || r.Load && len(d.Fields) < 40 {
					b.Fatal(d, err)
				}
				docs++
			}
			if docs != 100 {
				b.Fatal(docs, "documents after", r.After)
			}
			pages++
		}
		b.ReportMetric(float64(cpuTime(b)-start)/1000/float64(pages), "cpu-us/page")
	})
}

func benchScan(b *testing.B, name string, db *DB, n int, r Range) {
	b.Run(name, func(b *testing.B) {
		start, docs := cpuTime(b), 0
		for b.Loop() {
			for d, err := range db.Range(b.Context(), r) {
				if err != nil || r.Load && len(d.Fields) < 40 {
					b.Fatal(d, err)
				}
				docs++
			}
		}
		b.ReportMetric(float64(cpuTime(b)-start)/1000/float64(docs), "cpu-us/doc")
	})
}
