package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
)

// mixedLayouts are the layouts of the tables in the tests below.
var mixedLayouts = []string{"4:1", "2:1", "8:1", "3:1", "5:2", "4x4", "4:1", "2:1", "3:1", "1:1"}

// mixedDB loads the documents into as many tables as there are mixedLayouts, each with another
// layout but about the same size, and returns the database.
func mixedDB(t *testing.T, fps []uint64) *DB {
	t.Helper()
	var tables atomic.Int64
	db, _ := create4test(t, &Options{
		indexMemory: 1, // the tables are to be searched
		NoSketch:    true, NoSync: true, DisableAutoCompaction: true,
		chooseLayout: func(int64) table.Layout {
			l, err := table.ParseLayout(mixedLayouts[int(tables.Add(1)-1)%len(mixedLayouts)])
			if err != nil {
				panic(err)
			}
			return l
		},
	})
	l, err := db.NewLoader(t.Context(), &LoadOptions{})
	each := (len(fps) + len(mixedLayouts) - 1) / len(mixedLayouts)
	for i := range fps {
		if err == nil {
			err = l.Add(Doc{ID: mixedID(i), Fingerprints: []Fingerprint{{fps[i]}}})
		}
		if err == nil && (i+1)%each == 0 {
			err = l.l.Flush()
		}
	}
	if err == nil {
		_, err = l.Close()
	}
	must.Do(t, err)
	checkMixed(t, db)
	return db
}

func mixedID(i int) string { return fmt.Sprintf("%06d", i) }

// checkMixed checks that the tables have the expected layouts.
func checkMixed(t *testing.T, db *DB) {
	t.Helper()
	st, err := db.Stats()
	if err != nil || st.Options.Layout != "by size" {
		t.Fatalf("layout %s: %v", st.Options.Layout, err)
	}
	slices.SortFunc(st.Tables, func(a, b TableStats) int { return cmp.Compare(a.Name, b.Name) })
	for i, s := range st.Tables {
		if want := mixedLayouts[i%len(mixedLayouts)]; string(s.Layout) != want {
			t.Errorf("%s has the layout %s, want %s", s.Name, s.Layout, want)
		}
	}
	if len(st.Tables) != len(mixedLayouts) {
		t.Errorf("%d tables", len(st.Tables))
	}
}

// mixedFingerprints returns n fingerprints: uniform ones, or skewed ones that share most of their
// bits with one of a few.
func mixedFingerprints(r *rand.Rand, n int, skewed bool) []uint64 {
	var fps []uint64
	for range n {
		fp := r.Uint64()
		if skewed {
			fp &= r.Uint64() & r.Uint64() & r.Uint64()
			fp ^= []uint64{0, ^uint64(0), 0xffffffff, 0xabcd_0000_1111_0000}[r.IntN(4)]
		}
		if len(fps) > 0 && r.IntN(8) == 0 { // near an earlier one
			fp = fps[r.IntN(len(fps))]
			for range r.IntN(11) {
				fp ^= 1 << r.IntN(64)
			}
		}
		fps = append(fps, fp)
	}
	return fps
}

// TestMixedLayouts compares searches of tables with different layouts with brute force.
func TestMixedLayouts(t *testing.T) {
	for _, skewed := range []bool{false, true} {
		t.Run(fmt.Sprintf("skewed=%t", skewed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(77, 1))
			fps := mixedFingerprints(r, 60_000, skewed)
			db := mixedDB(t, fps)
			var queries []uint64
			for i := range 40 {
				q := r.Uint64()
				if i%4 > 0 {
					q = fps[r.IntN(len(fps))]
					for range r.IntN(5) {
						q ^= 1 << r.IntN(64)
					}
				}
				queries = append(queries, q)
			}
			for k := range 11 {
				checkMixedNear(t, db, fps, queries, k)
			}
		})
	}
}

// checkMixedNear compares NEAR and its variants with brute force.
func checkMixedNear(t *testing.T, db *DB, fps, queries []uint64, k int) {
	t.Helper()
	ctx := context.Background()
	want := make([][]Match, len(queries))
	for i, q := range queries {
		for j, fp := range fps {
			if d := bits.OnesCount64(fp ^ q); d <= k {
				want[i] = append(want[i], Match{ID: mixedID(j), Distance: d})
			}
		}
		slices.SortFunc(want[i], func(a, b Match) int { return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID)) })
	}
	batch := make([][]Match, len(queries))
	for m, err := range searchBatch(ctx, db, ofPrints(queries), Near(k)) {
		must.Do(t, err)
		batch[m.Query] = append(batch[m.Query], ofQuery(0, m))
	}
	any, err := anyOf(ctx, db, ofPrints(queries), Near(k))
	must.Do(t, err)
	for i, q := range queries {
		var got []Match
		for m, err := range db.Near(ctx, q, k) {
			must.Do(t, err)
			got = append(got, m)
		}
		if !slices.Equal(got, want[i]) {
			t.Errorf("k = %d, query %016x: %d matches, want %d", k, q, len(got), len(want[i]))
		}
		if !slices.Equal(batch[i], want[i]) {
			t.Errorf("k = %d, query %016x: %d matches of the batch, want %d", k, q, len(batch[i]), len(want[i]))
		}
		if any[i] != (len(want[i]) > 0) {
			t.Errorf("k = %d, query %016x: a match exists: %t, want %d", k, q, any[i], len(want[i]))
		}
	}
	s := snapshot4test(t, db)
	plan, err := s.Plan(ctx, Doc{Fingerprints: []Fingerprint{{queries[0]}}}, Near(k))
	if err != nil || len(plan) != len(mixedLayouts) || plan[0].Cost <= 0 {
		t.Errorf("k = %d: plan %+v: %v", k, plan, err)
	}
}

// TestMixedLayoutPairs compares pairs and clusters of tables with different layouts with brute
// force, before and after the tables are merged, packed and ingested by another database.
func TestMixedLayoutPairs(t *testing.T) {
	ctx := context.Background()
	for _, skewed := range []bool{false, true} {
		r := rand.New(rand.NewPCG(78, 1))
		fps := mixedFingerprints(r, 400, skewed)
		db := mixedDB(t, fps)
		check := func(db *DB) {
			t.Helper()
			for _, k := range []int{0, 3, 6, 10} {
				want := map[Pair]bool{}
				for i, a := range fps {
					for j, b := range fps[:i] {
						if d := bits.OnesCount64(a ^ b); d <= k {
							want[Pair{A: mixedID(j), B: mixedID(i), Match: Match{ID: mixedID(i), Distance: d}}] = true
						}
					}
				}
				n := 0
				for p, err := range db.Pairs(ctx, Near(k), nil) {
					if n++; err != nil || !want[p] {
						t.Fatalf("k = %d: %+v: %v", k, p, err)
					}
				}
				if n != len(want) {
					t.Errorf("k = %d: %d pairs, want %d", k, n, len(want))
				}
				if k != 3 {
					continue
				}
				for _, mode := range []bool{false, true} {
					if got, want := clustersOf(t, db, Near(k), mode), clustersByHand(t, db, Near(k), mode); !maps.Equal(got, want) {
						t.Errorf("k = %d, mode %v: clusters %v, want %v", k, mode, got, want)
					}
				}
			}
		}
		check(db)
		packed := t.TempDir() + "/all.sst"
		must.Do(t, db.Pack(ctx, packed, nil))
		pinned, _ := create4test(t, &Options{NoSketch: true, Layout: "6:3"})
		must.Do(t, pinned.Ingest(ctx, packed))
		single := open4test(t, packed, nil)
		must.Do(t, db.Compact(ctx, nil))
		for _, db := range []*DB{pinned, single, db} {
			check(db)
			if r, err := db.Check(ctx, nil); err != nil || len(r.Problems) > 0 {
				t.Errorf("%v, %v", r.Problems, err)
			}
		}
		st, err := pinned.Stats()
		if err != nil || st.Options.Layout != "6:3" || len(st.Tables) != 1 || st.Tables[0].Layout == "6:3" {
			t.Errorf("a table taken in by a database of layout 6:3: %+v, %v", st, err)
		}
	}
}

// TestLayoutOptions opens databases with layouts by size and with fixed ones.
func TestLayoutOptions(t *testing.T) {
	for _, c := range []struct {
		made, opened string
		want         string // the parameter that differs
	}{
		{"", "", ""}, {"", "by size", ""}, {"by size", "", ""}, {"4:1", "", ""}, {"4:1", "4", ""},
		{"", "4:1", "layout by size, not 4:1"}, {"3:1", "by size", "layout 3:1, not by size"}, {"3:1", "4:1", "layout 3:1, not 4:1"},
	} {
		db, path := create4test(t, &Options{Layout: c.made})
		put(t, db, "a", 1)
		want := cmp.Or(c.made, "by size")
		if got := db.Options().Layout; got != want {
			t.Errorf("%q: layout %q", c.made, got)
		}
		must.Do(t, db.Close())
		db, err := Open(path, &Options{Layout: c.opened})
		if c.want != "" {
			if err == nil {
				db.Close()
			}
			if !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q opened as %q: %v", c.made, c.opened, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q opened as %q: %v", c.made, c.opened, err)
			continue
		}
		if got := db.Options().Layout; got != want {
			t.Errorf("%q opened as %q: layout %q", c.made, c.opened, got)
		}
		db.Close()
	}
}
