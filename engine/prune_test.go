package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// loadStored loads documents as one table.
func loadStored(t testing.TB, db *DB, docs ...Doc) {
	t.Helper()
	l := must.Get(db.NewLoader(t.Context(), &LoadOptions{Replace: true, Workers: 1}))(t)
	for _, d := range docs {
		must.Do(t, l.Add(d))
	}
	must.Get(l.Close())(t)
}

// at returns a document with that time, in seconds.
func at(id string, seconds int64) Doc {
	return Doc{ID: id, Fingerprints: []Fingerprint{{uint64(seconds)}}, Time: time.Unix(seconds, 0)}
}

// tables returns the number of tables in a database.
func tables(t testing.TB, db *DB) int {
	t.Helper()
	st := must.Get(db.Stats())(t)
	return len(st.Tables)
}

// TestPruneModel prunes databases with tables and memtables, tombstones, replaced and expired
// documents, and open snapshots. It compares the remaining documents, the returned counts and the
// contents of the snapshots with a model.
func TestPruneModel(t *testing.T) {
	ctx := t.Context()
	for seed := range exhaustive.Every(t, 20).Of(180) {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		var now atomic.Int64 // seconds
		now.Store(10_000)
		opts := &Options{NoSketch: true, NoText: true, MemtableBytes: 40_000, DisableAutoCompaction: r.IntN(2) == 0, NoSync: true}
		opts.fs, opts.now = vfstest.NewMem(hostDir(t)), func() time.Time { return time.Unix(now.Load(), 0) }
		if r.IntN(2) == 0 {
			opts.TTL = 4000 * time.Second
		}
		db, err := Open("/x.simdb", opts)
		must.Do(t, err)
		want := map[string]int64{} // time by ID
		visible := func() map[string]int64 {
			m := maps.Clone(want)
			if opts.TTL > 0 {
				maps.DeleteFunc(m, func(_ string, s int64) bool { return s < now.Load()-4000 })
			}
			return m
		}
		type held struct {
			*Snapshot
			want map[string]int64
		}
		var open []held
		compare := func(what string, s *Snapshot, want map[string]int64) {
			t.Helper()
			got := map[string]int64{}
			for _, e := range collect(t, entriesIn(ctx, s, Range{})) {
				got[e.ID] = e.Time.Unix()
			}
			n := must.Get(s.Count(ctx, Range{}))(t)
			if !maps.Equal(got, want) || n != int64(len(want)) {
				t.Fatalf("seed %d, %s: %d documents, counted %d, want %d\n%v\n%v", seed, what, len(got), n, len(want), got, want)
			}
		}
		doc := func() Doc { return at(fmt.Sprint(r.IntN(400)), now.Load()-r.Int64N(6000)) }
		for range 60 {
			now.Add(100)
			switch n := r.IntN(20); {
			case n < 5:
				var b Batch
				for range 1 + r.IntN(100) {
					d := doc()
					b.Put(d)
					want[d.ID] = d.Time.Unix()
				}
				err = db.Apply(ctx, &b)
			case n < 9:
				var docs []Doc
				oldest := r.Int64N(6000)
				for range 1 + r.IntN(100) {
					d := doc()
					d.Time = time.Unix(now.Load()-oldest+r.Int64N(200), 0)
					docs = append(docs, d)
					want[d.ID] = d.Time.Unix()
				}
				loadStored(t, db, docs...)
			case n < 11:
				id := fmt.Sprint(r.IntN(400))
				delete(want, id)
				if err = db.Delete(ctx, id); errors.Is(err, ErrNotFound) {
					err = nil
				}
			case n < 12:
				err = db.Flush(ctx)
			case n < 13:
				err = db.Compact(ctx, nil)
			case n < 14:
				err = db.Compact(ctx, &CompactOptions{Due: true})
			case n < 15:
				s := must.Get(db.Snapshot())(t)
				open = append(open, held{s, visible()})
			case n < 16:
				if err = db.Close(); err == nil {
					for _, s := range open {
						s.Close()
					}
					open = nil
					db, err = Open("/x.simdb", opts)
				}
			default:
				before := now.Load() - r.Int64N(6000)
				was := len(visible())
				maps.DeleteFunc(want, func(_ string, s int64) bool { return s < before })
				var n int
				n, err = db.Prune(ctx, time.Unix(before, 0), nil)
				if n != was-len(visible()) {
					t.Fatalf("seed %d: pruned %d documents, want %d", seed, n, was-len(visible()))
				}
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			s := must.Get(db.Snapshot())(t)
			compare("now", s, visible())
			s.Close()
			for _, s := range open {
				compare("snapshot", s.Snapshot, s.want)
			}
		}
		for _, s := range open {
			s.Close()
		}
		report, err := db.Check(ctx, nil)
		if err = errors.Join(err, db.Close()); err != nil || len(report.Problems) > 0 {
			t.Fatalf("seed %d: %v, %v", seed, report.Problems, err)
		}
	}
}

// TestPruneBounds prunes up to times at, before and after that of a document, to the nanosecond,
// and outside the range of times.
func TestPruneBounds(t *testing.T) {
	ctx := t.Context()
	stored := time.UnixMicro(1_700_000_000_000_000)
	for _, flushed := range []bool{false, true} {
		for _, c := range []struct {
			before time.Time
			want   int
		}{
			{stored, 0}, {stored.Add(time.Nanosecond), 1}, {stored.Add(time.Microsecond), 1},
			{stored.Add(-time.Nanosecond), 0}, {stored.Add(-time.Microsecond), 0},
			{time.Time{}, 0}, {time.UnixMicro(math.MinInt64), 0}, {time.UnixMicro(math.MaxInt64), 1},
			{time.Date(999_999, 1, 1, 0, 0, 0, 0, time.UTC), 1}, {time.Date(-999_999, 1, 1, 0, 0, 0, 0, time.UTC), 0},
		} {
			db, _ := create4test(t, &Options{NoSketch: true})
			must.Do(t, db.Put(ctx, Doc{ID: "a", Fingerprints: []Fingerprint{{uint64(1)}}, Time: stored}))
			if flushed {
				must.Do(t, db.Flush(ctx))
			}
			if n, err := db.Prune(ctx, c.before, nil); n != c.want || err != nil {
				t.Errorf("flushed %t, before %v: pruned %d, %v", flushed, c.before, n, err)
			}
		}
	}
}

// TestPruneDropsTables prunes tables whose documents are all old: the tables are dropped
// immediately, and their files are removed once the last snapshot that sees them is closed.
func TestPruneDropsTables(t *testing.T) {
	ctx := t.Context()
	mem := vfstest.NewMem(hostDir(t))
	opts := &Options{fs: mem, NoSketch: true, DisableAutoCompaction: true}
	db, err := Create("/x.simdb", opts)
	must.Do(t, err)
	loadStored(t, db, at("a", 100), at("b", 150), at("c", 190)) // all old: c is replaced below
	loadStored(t, db, at("c", 250), at("d", 120), at("e", 300)) // partly old
	loadStored(t, db, at("f", 110), at("g", 500))               // all old except g, which is deleted
	loadStored(t, db, at("h", 600))
	must.Do(t, db.Delete(ctx, "g"))
	s, err := db.Snapshot()
	must.Do(t, err)
	var reports []Progress
	n, err := db.Prune(ctx, time.Unix(200, 0), func(p Progress) { reports = append(reports, p) })
	if n != 4 || err != nil {
		t.Fatalf("pruned %d, %v", n, err)
	}
	if last := reports[len(reports)-1]; last.Done != 8 || last.Total != 8 || len(reports) < 3 {
		t.Errorf("progress %+v", reports)
	}
	equal(t, "left", ids(t, db), []string{"c", "e", "h"})
	if n := tables(t, db); n != 2 {
		t.Errorf("%d tables are left, want 2", n)
	}
	if m := db.Metrics(); m.Deletes != 5 {
		t.Errorf("%d deletes counted", m.Deletes)
	}
	var seen []string
	for _, e := range collect(t, entriesIn(ctx, s, Range{})) {
		seen = append(seen, e.ID)
	}
	equal(t, "the snapshot", seen, []string{"a", "b", "c", "d", "e", "f", "h"})
	files := func() (n int) {
		names := must.Get(mem.List("/x.simdb"))(t)
		for _, name := range names {
			if len(name) > 4 && name[len(name)-4:] == ".sst" {
				n++
			}
		}
		return n
	}
	if n := files(); n != 4 {
		t.Errorf("%d files beside a snapshot, want 4", n)
	}
	must.Do(t, s.Close())
	if n := files(); n != 2 {
		t.Errorf("%d files, want 2", n)
	}
	if n, err := db.Prune(ctx, time.Unix(200, 0), nil); n != 0 || err != nil {
		t.Errorf("again: pruned %d, %v", n, err)
	}
	must.Do(t, db.Close())
	if db, err = Open("/x.simdb", opts); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	equal(t, "left after opening", ids(t, db), []string{"c", "e", "h"})
}

// TestPruneOverTheLog prunes documents of a table that have replaced documents in the log: a replay
// after a crash must not bring those back.
func TestPruneOverTheLog(t *testing.T) {
	ctx := t.Context()
	for _, whole := range []bool{true, false} {
		mem := vfstest.NewMem(hostDir(t))
		opts := &Options{fs: mem, NoSketch: true, DisableAutoCompaction: true}
		db := must.Get(Create("/x.simdb", opts))(t)
		for _, d := range []Doc{at("a", 900), at("b", 900)} {
			must.Do(t, db.Put(ctx, d))
		}
		load := []Doc{at("a", 100)}
		want := []string{"b"}
		if !whole {
			load = append(load, at("c", 800))
			want = append(want, "c")
		}
		loadStored(t, db, load...)
		if n, err := db.Prune(ctx, time.Unix(200, 0), nil); n != 1 || err != nil {
			t.Fatalf("pruned %d, %v", n, err)
		}
		killed := mem.CrashClone(0, 1)
		again := must.Get(Open("/x.simdb", &Options{fs: killed, NoSketch: true}))(t)
		equal(t, "after a crash", ids(t, again), want)
		must.Do(t, errors.Join(again.Close(), db.Close()))
	}
}

// TestPruneSyncsTheLog drops a table after an unsynced write has replaced one of its documents:
// after a power cut, the new document must be there.
func TestPruneSyncsTheLog(t *testing.T) {
	ctx := t.Context()
	mem := vfstest.NewMem(hostDir(t))
	opts := &Options{fs: mem, NoSketch: true, DisableAutoCompaction: true, NoSync: true}
	db := must.Get(Create("/x.simdb", opts))(t)
	loadStored(t, db, at("a", 100), at("b", 100))
	must.Do(t, db.Put(ctx, at("a", 900)))
	if n, err := db.Prune(ctx, time.Unix(200, 0), nil); n != 1 || err != nil {
		t.Fatalf("pruned %d, %v", n, err)
	}
	again := must.Get(Open("/x.simdb", &Options{fs: mem.CrashClone(0, 1), NoSketch: true}))(t)
	equal(t, "after a power cut", ids(t, again), []string{"a"})
	must.Do(t, errors.Join(again.Close(), db.Close()))
}

// TestPruneBesideCompaction prunes while tables are merged: in the middle of a merge, and during
// merges, loads and flushes in the background.
func TestPruneBesideCompaction(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, &Options{NoSketch: true, NoSync: true, MemtableBytes: 100_000})
	const rounds, docs = 12, 3000
	var wg sync.WaitGroup
	var pruned atomic.Int64
	for round := range int64(rounds) {
		var all []Doc
		for d := range int64(docs) {
			all = append(all, at(fmt.Sprintf("%d-%d", round, d), 1000*round+d%1000))
		}
		loadStored(t, db, all...)
		wg.Go(func() {
			n, err := db.Prune(ctx, time.Unix(1000*round+500, 0), nil)
			if err != nil {
				t.Error(err)
			}
			pruned.Add(int64(n))
		})
		if round%3 == 0 {
			var once sync.Once
			err := db.Compact(ctx, &CompactOptions{Progress: func(Progress) {
				once.Do(func() {
					n, err := db.Prune(ctx, time.Unix(1000*round+600, 0), nil)
					if err != nil {
						t.Error(err)
					}
					pruned.Add(int64(n))
				})
			}})
			must.Do(t, err)
		}
	}
	wg.Wait()
	n := must.Get(db.Prune(ctx, time.Unix(1000*(rounds-1)+700, 0), nil))(t)
	s := snapshot4test(t, db)
	left := must.Get(s.Count(ctx, Range{}))(t)
	if total := pruned.Load() + int64(n); left != docs*3/10 || total != rounds*docs-left {
		t.Errorf("%d documents are left, want %d; pruned %d", left, docs*3/10, total)
	}
	for _, e := range collect(t, entriesOf(ctx, db, Range{})) {
		if e.Time.Before(time.Unix(1000*(rounds-1)+700, 0)) {
			t.Fatalf("%s of %v is left", e.ID, e.Time)
		}
	}
}

// TestPruneSparesLater stores old documents while a prune runs, and merges them with documents that
// it is about to delete: the new ones stay, and the others are deleted.
func TestPruneSparesLater(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, &Options{NoSketch: true, DisableAutoCompaction: true})
	for table := range 3 {
		loadStored(t, db, at(fmt.Sprint("old", table), 100), at(fmt.Sprint("young", table), 900))
	}
	var once sync.Once
	n, err := db.Prune(ctx, time.Unix(200, 0), func(Progress) {
		once.Do(func() {
			loadStored(t, db, at("later", 100), at("old1", 150))
			if err := db.Put(ctx, at("latest", 100)); err != nil {
				t.Error(err)
			}
			if err := db.Compact(ctx, nil); err != nil {
				t.Error(err)
			}
		})
	})
	if n != 2 || err != nil {
		t.Errorf("pruned %d, %v", n, err)
	}
	equal(t, "left", ids(t, db), []string{"later", "latest", "old1", "young0", "young1", "young2"})
}

// TestPruneIsOne cancels prunes after each table: nothing may be deleted then, and a snapshot
// created during a prune sees all of its deletes or none. Another call deletes everything.
func TestPruneIsOne(t *testing.T) {
	db, _ := create4test(t, &Options{NoSketch: true, NoSync: true, DisableAutoCompaction: true})
	var want []string
	for table := range 5 {
		var all []Doc
		for d := range 100 {
			all = append(all, at(fmt.Sprintf("%d-%d", table, d), int64(d)))
			if d >= 50 {
				want = append(want, all[d].ID)
			}
		}
		loadStored(t, db, all...)
	}
	for call := range 6 {
		ctx, cancel := context.WithCancel(t.Context())
		tables := 0
		n, err := db.Prune(ctx, time.Unix(50, 0), func(Progress) {
			if tables++; tables > call {
				cancel()
			}
			if n := len(ids(t, db)); n != 500 {
				t.Errorf("%d documents while tables are looked through", n)
			}
		})
		cancel()
		switch {
		case call < 4 && (n != 0 || !errors.Is(err, context.Canceled)):
			t.Fatalf("cancelled after %d tables: pruned %d, %v", tables, n, err)
		case call == 5 && (n != 250 || err != nil):
			t.Fatalf("pruned %d, %v", n, err)
		}
		if n == 250 {
			break
		}
		if n := len(ids(t, db)); n != 500 {
			t.Fatalf("%d documents after a cancelled prune", n)
		}
	}
	slices.Sort(want)
	equal(t, "left", ids(t, db), want)
}
