package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// BenchmarkNearMemtable searches two databases like that of benchDB, one with an empty memtable and
// one whose memtable is nearly full, and reports the ratio of the times.
func BenchmarkNearMemtable(b *testing.B) {
	empty, queries := benchDB(b)
	path := b.TempDir()
	if err := os.CopyFS(path, os.DirFS(empty.Path())); err != nil {
		b.Fatal(err)
	}
	full, err := Open(path, &Options{Sync: SyncNever, DisableAutoCompaction: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { full.Close() })
	ctx := context.Background()
	fillMemtable(b, full)
	run := func(name string, search func(db *DB, q Fingerprint) error) {
		b.Run(name, func(b *testing.B) {
			times := [2]time.Duration{time.Hour, time.Hour}
			for range 15 { // the least counts: noise only adds time
				for i, db := range []*DB{empty, full} {
					start := time.Now()
					for _, q := range queries {
						if err := search(db, q); err != nil {
							b.Fatal(err)
						}
					}
					times[i] = min(times[i], time.Since(start)/time.Duration(len(queries)))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(times[0]), "empty-ns")
			b.ReportMetric(float64(times[1]), "full-ns")
			b.ReportMetric(float64(times[1])/float64(times[0]), "times")
		})
	}
	for _, k := range []int{0, 3, 4, 6, 8, 10} {
		run(fmt.Sprintf("near/k=%d", k), func(db *DB, q Fingerprint) error {
			for _, err := range db.Near(ctx, q, k) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	run("anymatch/k=3", func(db *DB, q Fingerprint) error {
		_, _, err := db.AnyMatch(ctx, Doc{ID: "q", Fingerprint: &q}, Near(3))
		return err
	})
	batches := 0
	run("batch/k=3", func(db *DB, q Fingerprint) error { // the last searches for all
		if batches++; batches%len(queries) != 0 {
			return nil
		}
		for _, err := range db.NearBatch(ctx, queries, 3) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	queries = queries[:100]
	run("nearest/n=1", func(db *DB, q Fingerprint) error {
		for _, err := range db.Nearest(ctx, q, 1) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// fillMemtable stores uniform fingerprints that nearly fill the memtable of default size.
func fillMemtable(b *testing.B, db *DB) {
	b.Helper()
	const n = 52_000
	r := rand.New(rand.NewPCG(7, 7))
	for i := range n {
		fp := r.Uint64()
		if err := db.Put(context.Background(), Doc{ID: "m" + strconv.Itoa(i), Fingerprint: &fp}); err != nil {
			b.Fatal(err)
		}
	}
	if st, err := db.Stats(); err != nil || st.Memtable != n {
		b.Fatal(err, st.Memtable)
	}
}
