package engine

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// A frozenSnapshot is a snapshot with its expected documents.
type frozenSnapshot struct {
	*Snapshot
	docs map[string]uint64
}

// check compares searches of a snapshot with brute force.
func (f frozenSnapshot) check(r *rand.Rand, fps []uint64) error {
	ctx := context.Background()
	q, k := fps[r.IntN(len(fps))]^1<<r.IntN(64), []int{0, 1, 3, 4, 6, 9, 20}[r.IntN(7)]
	var want []string
	for id, fp := range f.docs {
		if d := bits.OnesCount64(fp ^ q); d <= k {
			want = append(want, fmt.Sprint(d, " ", id))
		}
	}
	slices.SortFunc(want, func(a, b string) int {
		var x, y int
		fmt.Sscan(a, &x)
		fmt.Sscan(b, &y)
		if x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	same := func(what string, got []string) error {
		if !slices.Equal(got, want) {
			return fmt.Errorf("%s: %x within %d among %d: got %q, want %q", what, q, k, len(f.docs), got, want)
		}
		return nil
	}
	var got []string
	for m, err := range f.Search(ctx, ofPrint(q), Near(k), nil) {
		if err != nil {
			return err
		}
		got = append(got, fmt.Sprint(m.Distance, " ", m.ID))
	}
	if err := same("near", got); err != nil {
		return err
	}
	got = nil
	for m, err := range f.SearchBatch(ctx, ofPrints([]uint64{^q, q}), Near(k), nil) {
		if err != nil {
			return err
		}
		if m.Query == 1 {
			got = append(got, fmt.Sprint(m.Distance, " ", m.ID))
		}
	}
	if err := same("batch", got); err != nil {
		return err
	}
	known, err := search.AnyNear(ctx, &f.v, [][]uint64{{q}}, k)
	if err != nil || known[0] != (len(want) > 0) {
		return fmt.Errorf("any near: %x within %d: %v, %v, want %q", q, k, known, err, want)
	}
	m, found, err := anyMatch(ctx, f.Snapshot, Doc{Fingerprints: []Fingerprint{{q}}}, Near(k))
	if err != nil || found != (len(want) > 0) || found && !slices.Contains(want, fmt.Sprint(m.Distance, " ", m.ID)) {
		return fmt.Errorf("any match: %x within %d: %v, %v, %v, want %q", q, k, m, found, err, want)
	}
	return nil
}

// TestMemtableIndex fills a memtable far beyond the size at which its index starts, replaces and
// deletes, and compares snapshots of all ages with brute force while it is written.
func TestMemtableIndex(t *testing.T) {
	db, _ := create4test(t, &Options{NoText: true, NoSketch: true, NoSync: true})
	ctx := context.Background()
	r := rand.New(rand.NewPCG(8, 8))
	fps := make([]uint64, 3*memindex.MinSize)
	for i := range fps {
		if fps[i] = r.Uint64(); i%3 == 0 && i > 0 {
			fps[i] = fps[r.IntN(i)] ^ 1<<r.IntN(64) ^ 1<<r.IntN(64)
		}
	}
	docs := map[string]uint64{}
	frozen := make(chan frozenSnapshot, 64)
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(9, uint64(g)))
			for f := range frozen {
				for range 20 {
					if err := f.check(r, fps); err != nil {
						t.Error(err)
						break
					}
				}
				f.Close()
			}
		})
	}
	for i, fp := range fps {
		id := fmt.Sprint("d", i)
		if r.IntN(10) == 0 {
			id = fmt.Sprint("d", r.IntN(i+1)) // replaces one
		}
		must.Do(t, db.Put(ctx, Doc{ID: id, Fingerprints: []Fingerprint{{fp}}}))
		docs[id] = fp
		if gone := fmt.Sprint("d", r.IntN(i+1)); r.IntN(10) == 0 && docs[gone] != 0 {
			must.Do(t, db.Delete(ctx, gone))
			delete(docs, gone)
		}
		if i%200 == 199 || i >= memindex.MinSize-2 && i < memindex.MinSize+2 {
			s := must.Get(db.Snapshot())(t)
			frozen <- frozenSnapshot{s, maps.Clone(docs)}
		}
	}
	close(frozen)
	wg.Wait()
	if st, err := db.Stats(); err != nil || st.Memtable < int64(len(docs)) {
		t.Fatalf("%v: %d in the memtable, %d in all", err, st.Memtable, len(docs))
	}
	s := snapshot4test(t, db)
	one := uint64(1)
	plan := must.Get(s.Plan(ctx, Doc{Fingerprints: []Fingerprint{{one}}}, Near(3)))(t)
	part := plan[len(plan)-1]
	if part.Method != "probe" || part.Probes != 4 || !slices.Equal(part.Radii, []int{0, 0, 0, 0}) || part.Candidates > 10 {
		t.Errorf("plan: %+v", part)
	}
	if plan, err := s.Plan(ctx, Doc{Fingerprints: []Fingerprint{{one}}}, Near(30)); err != nil || plan[0].Method != "scan" || plan[0].Candidates != len(fps) {
		t.Errorf("plan within 30: %+v, %v", plan, err)
	}
}

// TestMemtableSketches is TestMemtableIndex for sketches.
func TestMemtableSketches(t *testing.T) {
	const size = 32
	db, _ := create4test(t, &Options{NoText: true, Sketch: size, MinJaccard: 0.65, NoSync: true})
	ctx := context.Background()
	r := rand.New(rand.NewPCG(10, 10))
	text := func(r *rand.Rand, i int) string { // families of 20 that differ in some words
		var b strings.Builder
		words := rand.New(rand.NewPCG(11, uint64(i/20)))
		for range 3 + i/20%40 {
			w := words.IntN(1000)
			if r.IntN(20) == 0 {
				w = r.IntN(1000)
			}
			fmt.Fprintf(&b, "w%d ", w)
		}
		return b.String()
	}
	type frozen struct {
		*Snapshot
		sketches map[string]minhash.Sketch
	}
	check := func(f frozen, r *rand.Rand) error {
		of, by := text(r, r.IntN(2*memindex.MinSketches)), []float64{0.3, 0.65, 0.8, 1}[r.IntN(4)]
		q, want := sketchOf(db, of), map[string]bool{}
		for id, s := range f.sketches {
			if _, ok := minhash.JaccardAtLeast(q, s, size, by); ok {
				want[id] = true
			}
		}
		n := len(want)
		for m, err := range f.Search(ctx, Doc{Text: of}, Jaccard(by).Estimated(), nil) {
			if err != nil {
				return err
			}
			if !want[m.ID] {
				return fmt.Errorf("at %v of %d: found %s, or found it twice", by, len(f.sketches), m.ID)
			}
			delete(want, m.ID)
		}
		if len(want) > 0 {
			return fmt.Errorf("at %v of %d: %v are lost", by, len(f.sketches), slices.Collect(maps.Keys(want)))
		}
		d := &table.Document{Sketch: q}
		m, found, err := search.AnyMatch(ctx, &f.v, d, nil, view.Criterion{Jaccard: true, T: by}, 1)
		if err != nil || found != (n > 0) {
			return fmt.Errorf("at %v of %d: any match %v, %v, %v, there are %d", by, len(f.sketches), m, found, err, n)
		}
		return nil
	}
	snapshots := make(chan frozen, 64)
	var wg sync.WaitGroup
	wg.Go(func() {
		r := rand.New(rand.NewPCG(12, 12))
		for f := range snapshots {
			for range 20 {
				if err := check(f, r); err != nil {
					t.Error(err)
					break
				}
			}
			f.Close()
		}
	})
	sketches := map[string]minhash.Sketch{}
	for i := range 2 * memindex.MinSketches {
		id := fmt.Sprint("d", i)
		if r.IntN(10) == 0 {
			id = fmt.Sprint("d", r.IntN(i+1)) // replaces one
		}
		text := text(r, i)
		must.Do(t, db.Put(ctx, Doc{ID: id, Text: text}))
		sketches[id] = sketchOf(db, text)
		if gone := fmt.Sprint("d", r.IntN(i+1)); r.IntN(10) == 0 && sketches[gone] != nil {
			must.Do(t, db.Delete(ctx, gone))
			delete(sketches, gone)
		}
		if i%400 == 399 || i >= memindex.MinSketches-2 && i < memindex.MinSketches+2 {
			s := must.Get(db.Snapshot())(t)
			snapshots <- frozen{s, maps.Clone(sketches)}
		}
	}
	close(snapshots)
	wg.Wait()
	s := snapshot4test(t, db)
	plan, err := s.Plan(ctx, Doc{Text: text(r, 40)}, Jaccard(0.8).Estimated())
	if err != nil || len(plan) != 1 || plan[0].Method != "postings" || plan[0].Candidates > 1000 {
		t.Errorf("plan: %+v, %v", plan, err)
	}
	if plan, err := s.Plan(ctx, Doc{Text: text(r, 40)}, Jaccard(0.5).Estimated()); err != nil || plan[0].Method != "scan" {
		t.Errorf("plan below the floor: %+v, %v", plan, err)
	}
}
