package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestLoadSorted loads IDs in order, so that tables need not be compared with each other, in many
// tables that are merged meanwhile; between two tables, writers delete and replace some documents,
// and write some that the load has next. Finally the load repeats earlier IDs. A map holds the
// expected document of each ID.
func TestLoadSorted(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(9, 12))
	for _, others := range []bool{false, true} {
		db, _ := create4test(t, &Options{NoSketch: true, NoSync: true})
		want := map[string]uint64{}
		put := func(id string) {
			want[id] = r.Uint64()
			must.Do(t, db.Put(ctx, Doc{ID: id, Fingerprints: []Fingerprint{{want[id]}}}))
		}
		for range 20 {
			put(fmt.Sprint(r.IntN(4000)))
		}
		l := must.Get(db.NewLoader(ctx, &LoadOptions{Replace: true}))(t)
		replaced, next := int64(0), 0
		for table := range 45 {
			if table == 40 {
				next /= 2
			}
			for range 100 - r.IntN(50) {
				id := fmt.Sprint(next)
				if _, ok := want[id]; ok {
					replaced++
				}
				want[id] = r.Uint64()
				must.Do(t, l.Add(Doc{ID: id, Fingerprints: []Fingerprint{{want[id]}}}))
				next++
			}
			must.Do(t, l.l.Flush())
			for range r.IntN(4) {
				if !others {
					break
				}
				put(fmt.Sprint(next + 30))
				put(fmt.Sprint(r.IntN(next)))
				id := fmt.Sprint(r.IntN(next))
				if _, ok := want[id]; ok {
					must.Do(t, db.Delete(ctx, id))
					delete(want, id)
				}
			}
			if table == 20 { // merges the load into one table with the writes of others
				must.Do(t, db.Compact(ctx, nil))
			}
		}
		st, err := l.Close()
		if err != nil || st.Replaced != replaced {
			t.Errorf("others %t: %+v, %v, want %d replaced", others, st, err, replaced)
		}
		n := 0
		for _, e := range collect(t, entriesOf(ctx, db, Range{})) {
			if fp, ok := want[e.ID]; !ok || fp != e.Fingerprint {
				t.Fatalf("others %t: %q has %x, want %x, %t", others, e.ID, e.Fingerprint, fp, ok)
			}
			n++
		}
		if n != len(want) {
			t.Errorf("others %t: %d documents, want %d", others, n, len(want))
		}
	}
}
