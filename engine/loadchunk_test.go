package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestLoadKnowsIDs loads without Replace, in many small tables, IDs that are in tables, in the
// memtable, in the table being written, deleted, or new, while another loader and writers add
// others: ErrExists must be returned for the stored ones.
func TestLoadKnowsIDs(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 9))
	for _, memory := range []int64{20 * 100, 300 * 100, 0} {
		db, _ := create4test(t, &Options{NoSketch: true, NoSync: true, MemtableBytes: 30_000})
		stored := map[string]bool{}
		id := func() string { return fmt.Sprint("id-", r.IntN(3000)) }
		put := func(n int) {
			for range n {
				d := Doc{ID: id(), Fingerprints: []Fingerprint{{r.Uint64()}}}
				must.Do(t, db.Put(ctx, d))
				stored[d.ID] = true
			}
		}
		put(300)
		for id := range maps.Clone(stored) {
			if r.IntN(4) == 0 {
				must.Do(t, db.Delete(ctx, id))
				delete(stored, id)
			}
		}
		l := must.Get(db.NewLoader(ctx, &LoadOptions{MemoryBytes: memory}))(t)
		added := int64(0)
		n := 4000
		if memory > 0 {
			n = 1500
		}
		for i := range n {
			d := Doc{ID: id(), Fingerprints: []Fingerprint{{r.Uint64()}}}
			err := l.Add(d)
			if want := stored[d.ID]; errors.Is(err, ErrExists) != want || err != nil && !want {
				t.Fatalf("memory %d: adding document %d, %q: %v; stored before: %v", memory, i, d.ID, err, want)
			}
			if err == nil {
				added++
				stored[d.ID] = true
			}
			if i%400 == 399 { // writes of others count from the next table on
				put(100)
				must.Do(t, l.l.Flush())
			}
		}
		st := must.Get(l.Close())(t)
		snap := must.Get(db.Snapshot())(t)
		defer snap.Close()
		n = 0
		for e, err := range entriesIn(ctx, snap, Range{}) {
			if err != nil || !stored[e.ID] {
				t.Fatalf("%q is stored, %v", e.ID, err)
			}
			n++
		}
		if n != len(stored) || st.Replaced != 0 || st.Documents > added {
			t.Errorf("memory %d: %d documents are stored, want %d; %d of %d added: %+v", memory, n, len(stored), st.Documents, added, st)
		}
	}
}

// TestLoadCancelled cancels the context of a load: the load must leave nothing behind, and the
// database can be written.
func TestLoadCancelled(t *testing.T) {
	db, path := create4test(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	l := must.Get(db.NewLoader(ctx, &LoadOptions{}))(t)
	for i := range 5000 {
		must.Do(t, l.Add(Doc{ID: fmt.Sprint(i), Text: "some words"}))
	}
	cancel()
	if st, err := l.Close(); !errors.Is(err, context.Canceled) || st.Documents != 0 {
		t.Fatal(st, err)
	}
	if err := l.Add(Doc{ID: "x"}); err == nil {
		t.Fatal("a load that has ended takes documents")
	}
	put(t, db, "after", 1)
	if files, err := filepath.Glob(filepath.Join(path, "*.sst")); err != nil || len(files) > 0 {
		t.Fatal(files, err)
	}
	if st, err := db.Stats(); err != nil || st.Documents != 1 {
		t.Fatal(st, err)
	}
}

// TestLoadAborted aborts loads that have written texts already: they must leave neither documents
// nor files that were not published.
func TestLoadAborted(t *testing.T) {
	for _, published := range []int{0, 1} {
		db, path := create4test(t, nil)
		l := must.Get(db.NewLoader(t.Context(), &LoadOptions{Replace: true, MemoryBytes: 40_000}))(t)
		add := func(from, n int) {
			for i := range n {
				must.Do(t, l.Add(Doc{ID: fmt.Sprint(from + i), Text: strings.Repeat(fmt.Sprintf("some %d words ", i), 30)}))
			}
		}
		want := int64(0)
		if published > 0 {
			add(0, 10)
			must.Do(t, l.l.Flush())
			want = 10
		}
		add(100, 40) // less than a table, more than a window
		if st := l.Abort(); st.Documents != want {
			t.Errorf("%d documents, want %d", st.Documents, want)
		}
		if st, err := db.Stats(); err != nil || st.Documents != want {
			t.Error(st, err)
		}
		if report, err := db.Check(t.Context(), nil); err != nil || len(report.Problems) > 0 {
			t.Error(report, err)
		}
		files, err := filepath.Glob(filepath.Join(path, "*.sst*"))
		if err != nil || int64(len(files)) != want/10 {
			t.Fatal(files, err)
		}
		put(t, db, "after", 1)
	}
}

// TestCloseEndsLoad closes a database during a load that has started a table and waits for texts:
// Close must not wait for them.
func TestCloseEndsLoad(t *testing.T) {
	db, _ := create4test(t, nil)
	l := must.Get(db.NewLoader(t.Context(), &LoadOptions{Replace: true, MemoryBytes: 40_000}))(t)
	for i := range 40 {
		must.Do(t, l.Add(Doc{ID: fmt.Sprint(i), Text: strings.Repeat(fmt.Sprintf("some %d words ", i), 30)}))
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := l.l.Flush(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if st := l.Abort(); st.Documents != 0 {
		t.Error(st)
	}
}

// TestLoadMergesOnce loads in many tables, while writes make other merges due: no table of the load
// is merged before there are enough, no document is merged twice, and few tables are left.
func TestLoadMergesOnce(t *testing.T) {
	for _, tables := range []int{3, 5, 9, 16, 20} {
		ctx := t.Context()
		var mu sync.Mutex
		merged, merges := map[uint64]int{}, int64(0)
		db, _ := create4test(t, &Options{NoSketch: true, NoSync: true, OnEvent: func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Kind == "compact" {
				merges++
				for _, n := range e.Tables {
					merged[n]++
				}
			}
		}})
		l := must.Get(db.NewLoader(ctx, &LoadOptions{Replace: true}))(t)
		for i := range tables {
			for j := range 50 {
				must.Do(t, l.Add(Doc{ID: fmt.Sprint(i, " ", j), Fingerprints: []Fingerprint{{uint64(i*j) << 40}}}))
			}
			must.Do(t, l.l.Flush())
			if i == 9 && tables < 16 || i < 9 {
				must.Do(t, db.Compact(ctx, &CompactOptions{Due: true}))
				mu.Lock()
				if len(merged) > 0 {
					t.Errorf("%d tables: %v were merged after %d", tables, merged, i+1)
				}
				mu.Unlock()
			}
		}
		must.Get(l.Close())(t)
		must.Do(t, db.Compact(ctx, &CompactOptions{Due: true}))
		st, err := db.Stats()
		if err != nil || st.Documents != int64(50*tables) || len(st.Tables) > 3 {
			t.Fatalf("%d tables: %d documents in %d tables, %v", tables, st.Documents, len(st.Tables), err)
		}
		// The event of a background merge comes after its end.
		until(t, "the events of all merges", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return merges == db.Metrics().Compactions
		})
		mu.Lock()
		for n, times := range merged {
			if times > 1 {
				t.Errorf("%d tables: table %d was merged %d times", tables, n, times)
			}
		}
		if want := map[int]int{3: 0, 5: 4, 9: 8, 16: 16, 20: 20}[tables]; len(merged) != want {
			t.Errorf("%d tables: %d were merged, want %d", tables, len(merged), want)
		}
		mu.Unlock()
	}
}
