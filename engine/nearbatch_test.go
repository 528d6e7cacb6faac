package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// wantBatch returns the expected results of a batch by a model.
func wantBatch(m *model, fps []uint64, k int) (want []Match) {
	for i, fp := range fps {
		for _, match := range m.near(fp, k) {
			want = append(want, ofQuery(i, match))
		}
	}
	return want
}

// singly returns the expected results of a batch by single searches.
func singly(t testing.TB, s *Snapshot, fps []uint64, k int) (want []Match) {
	t.Helper()
	for i, fp := range fps {
		for _, m := range collect(t, s.Search(context.Background(), ofPrint(fp), Near(k), nil)) {
			want = append(want, ofQuery(i, m))
		}
	}
	return want
}

// checkNearBatch compares a batch of a snapshot with a model, whole and in chunks.
func checkNearBatch(t testing.TB, r *rand.Rand, s *Snapshot, m *model) {
	t.Helper()
	k := r.IntN(8)
	if r.IntN(8) == 0 {
		k = r.IntN(65)
	}
	es := m.sorted()
	fps := make([]uint64, r.IntN(8))
	for i := range fps {
		fps[i] = r.Uint64()
		if len(es) > 0 && r.IntN(4) > 0 {
			fps[i] = es[r.IntN(len(es))].Fingerprint ^ 1<<r.IntN(64)
		}
	}
	want := wantBatch(m, fps, k)
	equal(t, fmt.Sprintf("batch, k %d", k), collect(t, s.SearchBatch(context.Background(), ofPrints(fps), Near(k), nil)), want)
	chunked := s.nearBatch(context.Background(), ofPrints(fps), Near(k), 1+r.IntN(5), r.IntN(20))
	equal(t, fmt.Sprintf("batch in chunks, k %d", k), collect(t, chunked), want)
}

// batchDB returns a database of three tables and a memtable, with deleted and replaced documents in
// each, its model, and fingerprints to search for.
func batchDB(t testing.TB, docs, queries int) (*DB, *model, []uint64) {
	ctx := context.Background()
	db, _ := create4test(t, &Options{NoSync: true, DisableAutoCompaction: true, NoText: true, NoSketch: true})
	r := rand.New(rand.NewPCG(uint64(docs), 5))
	m := &model{docs: map[string]entry{}}
	fps := make([]uint64, docs)
	for i := range fps {
		fps[i] = r.Uint64()
		if i%3 == 0 { // near or equal to an earlier one
			fps[i] = fps[r.IntN(i+1)]
			for range r.IntN(5) {
				fps[i] ^= 1 << r.IntN(64)
			}
		}
		id := fmt.Sprint("d", i)
		put(t, db, id, fps[i])
		m.put(id, fps[i], true)
		if i%10 == 9 {
			old := fmt.Sprint("d", r.IntN(i))
			if i%20 == 9 {
				fp := r.Uint64()
				put(t, db, old, fp)
				m.put(old, fp, true)
			} else if err := db.Delete(ctx, old); err == nil {
				delete(m.docs, old)
			} else if !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
		}
		if i%(docs/4+1) == docs/4 {
			must.Do(t, db.Flush(ctx))
		}
	}
	asked := make([]uint64, queries)
	for i := range asked {
		asked[i] = r.Uint64()
		if i%2 == 0 {
			asked[i] = fps[r.IntN(docs)] ^ 1<<r.IntN(64)
		}
	}
	return db, m, asked
}

// TestNearBatch compares batches that are large enough for every search method with brute force.
func TestNearBatch(t *testing.T) {
	db, m, fps := batchDB(t, 4000, 3000)
	if st, err := db.Stats(); err != nil || len(st.Tables) != 3 || st.Memtable == 0 || st.Tombstones == 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	equal(t, "nothing", collect(t, searchBatch(context.Background(), db, ofPrints(nil), Near(3))), nil)
	for k := 0; k <= 64; k++ {
		some := fps
		if k > 6 {
			some = fps[:30]
		}
		if k > 20 {
			some = fps[:2]
		}
		equal(t, fmt.Sprint("k ", k), collect(t, searchBatch(context.Background(), db, ofPrints(some), Near(k))), wantBatch(m, some, k))
	}
	var stats QueryStats
	found := collect(t, db.SearchBatch(context.Background(), ofPrints(fps), Near(3), &SearchOptions{Stats: &stats}))
	if stats.Matches != int64(len(found)) || stats.Tables != 4 || stats.Candidates == 0 || stats.Probes == 0 {
		t.Errorf("%+v for %d matches", stats, len(found))
	}
}

func TestNearBatchEnds(t *testing.T) {
	db, _, fps := batchDB(t, 400, 100)
	for _, k := range []int{-1, 65} {
		for _, err := range searchBatch(context.Background(), db, ofPrints(fps), Near(k)) {
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("k %d: %v", k, err)
			}
		}
	}
	n := 0
	for _, err := range searchBatch(context.Background(), db, ofPrints(fps), Near(30)) {
		must.Do(t, err)
		if n++; n == 5 {
			break
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := must.Get(db.Snapshot())(t)
	var last error
	for m, err := range s.nearBatch(ctx, ofPrints(fps), Near(30), 10, 1<<20) {
		if last = err; err == nil && m.Query == 15 {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled in the second chunk: %v", last)
	}
	s.Close()
	for _, err := range s.SearchBatch(context.Background(), ofPrints(fps), Near(3), nil) {
		if last = err; !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
	if !errors.Is(last, ErrClosed) {
		t.Errorf("a closed snapshot ends with %v", last)
	}
}

// TestNearBatchAmongWriters compares batches with single searches of the same snapshot while
// documents are written, replaced, deleted, flushed and compacted.
func TestNearBatchAmongWriters(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	db, _ := create4test(t, &Options{MemtableBytes: 20_000, NoSync: true})
	var wg sync.WaitGroup
	for w := range uint64(2) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(w, 6))
			for ctx.Err() == nil {
				id := fmt.Sprint("d", r.IntN(300))
				if r.IntN(5) == 0 {
					if err := db.Delete(context.Background(), id); err != nil && !errors.Is(err, ErrNotFound) {
						t.Error(err)
					}
					continue
				}
				fp := r.Uint64N(16) * 0x9e3779b97f4a7c15
				if err := db.Put(context.Background(), Doc{ID: id, Fingerprints: []Fingerprint{{fp}}}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			r := rand.New(rand.NewPCG(w, 7))
			for ctx.Err() == nil {
				s, err := db.Snapshot()
				if err != nil {
					t.Error(err)
					return
				}
				fps := make([]uint64, 30)
				for i := range fps {
					fps[i] = r.Uint64N(16)*0x9e3779b97f4a7c15 ^ 1<<r.IntN(64)
				}
				got, want := collect(t, s.SearchBatch(context.Background(), ofPrints(fps), Near(3), nil)), singly(t, s, fps, 3)
				if !slices.Equal(got, want) {
					t.Errorf("%d matches, singly %d", len(got), len(want))
				}
				s.Close()
			}
		})
	}
	wg.Go(func() {
		for ctx.Err() == nil {
			if err := db.Compact(context.Background(), nil); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}

// TestNearBatchHoldsLittle checks that a batch holds few of its matches at a time, even if their
// IDs are long or one query has many, and yields the same results.
func TestNearBatchHoldsLittle(t *testing.T) {
	db, _ := create4test(t, &Options{NoSync: true, NoText: true, NoSketch: true, Memory: 1 << 20})
	const docs, queries, idBytes = 5000, 20, 2000
	for i := range docs {
		put(t, db, fmt.Sprint(strings.Repeat("x", idBytes), docs-i), uint64(1)<<(i%3))
	}
	must.Do(t, db.Flush(context.Background()))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, n, last := heap(), 0, Match{Query: -1}
	for m, err := range searchBatch(context.Background(), db, ofPrints(make([]uint64, queries)), Near(1)) {
		must.Do(t, err)
		if c := cmp.Or(cmp.Compare(last.Query, m.Query), cmp.Compare(last.Distance, m.Distance), cmp.Compare(last.ID, m.ID)); c >= 0 {
			t.Fatalf("match %d is out of order", n)
		}
		if n++; n%(docs/2) == 1 {
			if more := heap() - before; more > 8<<20 {
				t.Fatalf("%d MB are held, of %d MB of ids", more>>20, docs*queries*idBytes>>20)
			}
		}
		last = m
	}
	if n != docs*queries {
		t.Fatalf("%d matches, want %d", n, docs*queries)
	}
}
