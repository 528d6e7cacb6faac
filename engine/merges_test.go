package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/internal/must"
)

// eager is a policy that merges tables of any size two by two.
var eager = compaction.Options{Fanout: 2, Smallest: 1}

// loadTable adds documents from..to-1 as one table.
func loadTable(t testing.TB, db *DB, from, to int) {
	t.Helper()
	l := must.Get(db.NewLoader(context.Background(), &LoadOptions{Replace: true}))(t)
	for i := from; i < to; i++ {
		must.Do(t, l.Add(Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{uint64(i) * 0x9e3779b97f4a7c15}}}))
	}
	must.Get(l.Close())(t)
}

// until waits until a condition holds.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	timed, _ := t.(*testing.T)
	for ; !holds(); time.Sleep(time.Millisecond) {
		if timed == nil {
			continue
		}
		if end, ok := timed.Deadline(); ok && time.Until(end) < 10*time.Second {
			t.Fatalf("waited as long as go test allows: %s", what)
		}
	}
}

// TestMergesAtOnce holds merges in the middle, so that several run at once, no two with a common
// table; meanwhile documents in all tables are deleted and replaced, and the tables are packed and
// checked. Then the merges end, and nothing may be lost or come back.
func TestMergesAtOnce(t *testing.T) {
	ctx := context.Background()
	db, path := create4test(t, &Options{NoText: true, NoSketch: true, NoSync: true, DisableAutoCompaction: true})
	const n = 21_000
	for i, from := 0, 0; from < n; i++ { // pairs of tables of similar size
		size := []int{8000, 8000, 2000, 2000, 500, 500}[i]
		loadTable(t, db, from, from+size)
		from += size
	}
	must.Do(t, db.Close())
	var merges atomic.Int64
	db, err := Open(path, &Options{
		NoSync: true, CompactionRate: 1, policy: eager, mergeSlots: 4, OnEvent: func(e Event) {
			if e.Kind == "compact" {
				merges.Add(1)
			}
		},
	})
	must.Do(t, err)
	defer db.Close()
	until(t, "three merges run", func() bool { return db.Metrics().Merging >= 3 })
	running := db.Metrics().Running
	var inputs []uint64
	for _, m := range running {
		inputs = append(inputs, m.Tables...)
	}
	slices.Sort(inputs)
	if len(slices.Compact(slices.Clone(inputs))) != len(inputs) {
		t.Fatalf("tables are in several merges: %+v", running)
	}
	want := map[string]bool{}
	for i := range n {
		id := fmt.Sprint(i)
		switch i % 10 {
		case 3:
			must.Do(t, db.Delete(ctx, id))
		case 5:
			put(t, db, id, uint64(i)*0x9e3779b97f4a7c15)
			want[id] = true
		default:
			want[id] = true
		}
	}
	must.Do(t, db.Flush(ctx))
	must.Do(t, db.Pack(ctx, path+".sst", nil))
	if r, err := db.Check(ctx, nil); err != nil || len(r.Problems) > 0 {
		t.Fatal(r, err)
	}
	compacted := make(chan error)
	go func() { compacted <- db.Compact(ctx, nil) }() // waits for all merges
	time.Sleep(10 * time.Millisecond)
	db.SetCompactionRate(0)
	must.Do(t, <-compacted)
	if n := tables(t, db); n != 1 {
		t.Errorf("%d tables", n)
	}
	// The event of a background merge comes after its end.
	until(t, "the events of all merges", func() bool { return merges.Load() == db.Metrics().Compactions })
	if m := db.Metrics(); merges.Load() < 4 || m.Merging > 0 {
		t.Errorf("%d merges, %+v", merges.Load(), m)
	}
	for _, open := range []bool{false, true} {
		if open {
			must.Do(t, db.Close())
			if db, err = Open(path, nil); err != nil {
				t.Fatal(err)
			}
			defer db.Close()
		}
		got := map[string]bool{}
		for e, err := range entriesOf(ctx, db, Range{}) {
			if err != nil || !want[e.ID] || got[e.ID] {
				t.Fatalf("%+v, %v", e, err)
			}
			got[e.ID] = true
		}
		if len(got) != len(want) {
			t.Fatalf("%d documents, want %d", len(got), len(want))
		}
	}
}

// TestTableBound writes from several goroutines while merging is slow: there must never be more
// tables than the limit that stops writers, and no document may be lost.
func TestTableBound(t *testing.T) {
	db, _ := create4test(t, &Options{NoText: true, NoSketch: true, NoSync: true, MemtableBytes: 5000, CompactionRate: 1_000_000})
	var stop atomic.Bool
	most := 0
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for !stop.Load() {
			most = max(most, tables(t, db))
			time.Sleep(100 * time.Microsecond)
		}
	}()
	const writers, each = 4, 1000
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				put(t, db, fmt.Sprint(w, "-", i), uint64(w*each+i)*0x9e3779b97f4a7c15)
			}
		})
	}
	wg.Wait()
	stop.Store(true)
	<-watched
	m := db.Metrics()
	if most > 16 {
		t.Errorf("%d tables", most)
	}
	if w := m.WriteAmplification; w <= 1 || w > 20 {
		t.Errorf("every byte was written %g times: %+v", w, m)
	}
	if st, err := db.Stats(); err != nil || st.Documents != writers*each {
		t.Errorf("%d documents, %v", st.Documents, err)
	}
}

// stopped returns a database in which a writer waits for a merge that does not proceed; the channel
// receives its error.
func stopped(t *testing.T, ctx context.Context, o *Options) (*DB, string, chan error) {
	o.NoText, o.NoSketch, o.NoSync, o.MemtableBytes, o.CompactionRate = true, true, true, 5000, 1
	full := make(chan struct{}, 1)
	db, path := create4test(t, o)
	done := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			if err := db.Put(ctx, Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{uint64(i)}}}); err != nil {
				done <- err
				return
			}
			if i == 0 {
				full <- struct{}{}
			}
		}
	}()
	<-full
	until(t, "the writer is stopped, and all memtables are flushed but its own", func() bool {
		return db.s.StoppedWriters() > 0 && db.s.TableCount() >= 16
	})
	return db, path, done
}

// TestStoppedWriter releases a writer that is stopped by the number of tables: by its context, by
// Close, by a pause.
func TestStoppedWriter(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	stalls := make(chan Event, 100)
	db, _, done := stopped(t, ctx, &Options{OnEvent: func(e Event) {
		if e.Kind == "stall" && e.Reason == "tables" {
			stalls <- e
		}
	}})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if m := db.Metrics(); len(stalls) != 1 || m.Stalls == 0 || m.StallTime < (<-stalls).Duration || m.SlowTime == 0 {
		t.Errorf("%d stalls, %+v", len(stalls), m)
	}
	must.Do(t, db.Close())

	db, _, done = stopped(t, context.Background(), &Options{CloseWait: -1})
	must.Do(t, db.Close())
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}

	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	db, _, done = stopped(t, ctx, new(Options))
	db.SetCompactionRate(-1)
	until(t, "writing goes on while merging is paused", func() bool { return db.s.TableCount() > 20 })
	db.SetCompactionRate(0)
	db.SetCompactionRate(0)
	until(t, "tables are merged again", func() bool { return db.s.TableCount() < 16 })
	cancel()
	<-done
}

// TestPauseCompaction flushes while compaction is paused: only merges that a caller requests may
// run.
func TestPauseCompaction(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, &Options{NoSync: true})
	db.SetCompactionRate(-1)
	for i := range 20 {
		put(t, db, fmt.Sprint(i), uint64(i))
		must.Do(t, db.Flush(ctx))
	}
	time.Sleep(5 * time.Millisecond)
	if n := tables(t, db); n != 20 {
		t.Fatalf("%d tables", n)
	}
	if err := db.Compact(ctx, &CompactOptions{Due: true}); err != nil || tables(t, db) > 3 {
		t.Fatalf("%d tables, %v", tables(t, db), err)
	}
	for i := range 8 {
		put(t, db, fmt.Sprint("more", i), uint64(i))
		must.Do(t, db.Flush(ctx))
	}
	before := tables(t, db)
	db.SetCompactionRate(0)
	until(t, "tables are merged", func() bool { return tables(t, db) < before })
}

// TestCloseFinishes closes a database while a merge is held: Close must finish or abandon it as
// CloseWait says, and nothing may be lost.
func TestCloseFinishes(t *testing.T) {
	for _, c := range []struct {
		wait        time.Duration
		least, most int // tables
	}{{0, 1, 6}, {time.Hour, 1, 3}, {-1, 4, 6}} {
		db, path := create4test(t, &Options{NoText: true, NoSketch: true, NoSync: true, DisableAutoCompaction: true})
		for i := range 4 {
			loadTable(t, db, 30_000*i, 30_000*(i+1)) // more bytes in all than Close merges on its own
		}
		must.Do(t, db.Close())
		db, err := Open(path, &Options{NoSync: true, CompactionRate: 1, CloseWait: c.wait})
		must.Do(t, err)
		until(t, "a merge runs", func() bool { return db.Metrics().Merging == 1 })
		refused := make(chan struct{})
		go func() { // a writer must learn immediately that the database is being closed
			defer close(refused)
			for {
				if err := db.Put(context.Background(), Doc{ID: "0", Fingerprints: []Fingerprint{{uint64(0)}}}); err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		}()
		must.Do(t, db.Close())
		<-refused
		if db, err = Open(path, &Options{ReadOnly: true}); err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if st, err := db.Stats(); err != nil || len(st.Tables) < c.least || len(st.Tables) > c.most || st.Documents != 120_000 {
			t.Errorf("CloseWait %v: %d tables of %d documents, %v", c.wait, len(st.Tables), st.Documents, err)
		}
	}
}

// TestExpiredCount lets nearly all documents of a table expire: compaction must count them as dead,
// although one is alive, whether requested or in the background.
func TestExpiredCount(t *testing.T) {
	ctx := context.Background()
	var now atomic.Int64
	now.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	clock := func() time.Time { return time.Unix(0, now.Load()) }
	for _, auto := range []bool{false, true} {
		db, _ := create4test(t, &Options{
			NoText: true, NoSketch: true, NoSync: true, TTL: time.Minute, now: clock, DisableAutoCompaction: !auto,
		})
		var docs Batch
		for i := range 1000 {
			docs.Put(Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{uint64(i)}}})
		}
		must.Do(t, db.Apply(ctx, &docs))
		now.Add(int64(50 * time.Second))
		put(t, db, "young", 77)
		must.Do(t, db.Flush(ctx))
		now.Add(int64(20 * time.Second))
		if !auto { // otherwise a merge may have begun
			st, err := db.Stats()
			if err != nil || len(st.Tables) != 1 || st.Tables[0].Expired < 900 || st.Documents > 100 {
				t.Fatalf("%+v, %v", st, err)
			}
			must.Do(t, db.Compact(ctx, &CompactOptions{Due: true}))
		}
		until(t, "what has expired is dropped", func() bool {
			st, err := db.Stats()
			return err == nil && st.Documents == 1 && st.Tables[0].Documents == 1 && st.Tables[0].Expired == 0
		})
		until(t, "the merge has ended", func() bool { return db.Metrics().Merging == 0 })
		past := db.Metrics().Past
		if len(past) != 1 || past[0].Reason != "dead" || past[0].InputDocs != 1001 || past[0].Docs != 1 {
			t.Errorf("%+v", past)
		}
	}
}
