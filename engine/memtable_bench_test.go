//go:build unix

package engine

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// benchFull returns two copies of a database, one with n documents in its memtable, which nearly
// fill it. Both are copies because the way a file was written decides whether it is mapped with
// large pages.
func benchFull(b *testing.B, src *DB, n int, doc func(i int) Doc) (empty, full *DB) {
	b.Helper()
	empty = benchCopy(b, src, Options{NoSync: true, DisableAutoCompaction: true})
	full = benchCopy(b, src, Options{NoSync: true, DisableAutoCompaction: true, OnEvent: func(e Event) {
		if e.Kind == "flush" {
			b.Error("the memtable was flushed")
		}
	}})
	for i := range n {
		must.Do(b, full.Put(context.Background(), doc(i)))
	}
	if st, err := full.Stats(); err != nil || st.Memtable != int64(n) {
		b.Fatal(err, st.Memtable)
	}
	return empty, full
}

// benchRatio reports the processor time of a search in a database with an empty memtable, and with
// a full memtable, and the ratio. run searches many times and returns the number of searches.
func benchRatio(b *testing.B, name string, empty, full *DB, run func(db *DB) (searches int, err error)) {
	b.Run(name, func(b *testing.B) {
		times := [2]time.Duration{time.Hour, time.Hour}
		for range 30 { // use the minimum: noise only adds time
			for i, db := range []*DB{empty, full} {
				start := cpuTime(b)
				n := must.Get(run(db))(b)
				times[i] = min(times[i], (cpuTime(b)-start)/time.Duration(n))
			}
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(times[0]), "empty-ns")
		b.ReportMetric(float64(times[1]), "full-ns")
		b.ReportMetric(float64(times[1])/float64(times[0]), "times")
	})
}

// drain reads all results of a search.
func drain[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkNearMemtable searches the database of benchDB with an empty and with a full memtable.
func BenchmarkNearMemtable(b *testing.B) {
	src, queries := benchDB(b)
	r := rand.New(rand.NewPCG(7, 7))
	empty, full := benchFull(b, src, 52_000, func(i int) Doc {
		return Doc{ID: "m" + strconv.Itoa(i), Fingerprints: []Fingerprint{{r.Uint64()}}}
	})
	ctx := context.Background()
	each := func(name string, queries []uint64, search func(db *DB, q uint64) error) {
		benchRatio(b, name, empty, full, func(db *DB) (int, error) {
			for _, q := range queries {
				if err := search(db, q); err != nil {
					return 0, err
				}
			}
			return len(queries), nil
		})
	}
	for _, k := range []int{0, 3, 4, 6, 8, 10} {
		each(fmt.Sprintf("near/k=%d", k), queries, func(db *DB, q uint64) error { return drain(db.Near(ctx, q, k)) })
	}
	each("anymatch/k=3", queries, func(db *DB, q uint64) error {
		_, _, err := anyMatch(ctx, db, Doc{ID: "q", Fingerprints: []Fingerprint{{q}}}, Near(3))
		return err
	})
	each("nearest/n=1", queries[:100], func(db *DB, q uint64) error {
		return drain(db.Search(ctx, ofPrint(q), Near(64), &SearchOptions{Limit: 1}))
	})
	benchRatio(b, "batch/k=3", empty, full, func(db *DB) (int, error) {
		return len(queries), drain(searchBatch(ctx, db, ofPrints(queries), Near(3)))
	})
}
