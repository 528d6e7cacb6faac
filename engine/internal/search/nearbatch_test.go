package search

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
)

// TestLongRuns has two fingerprints with equally many documents, in different orders of IDs, in a
// table and a memtable, and searches for fingerprints at various distances from these.
func TestLongRuns(t *testing.T) {
	db, err := store.Create(filepath.Join(t.TempDir(), "a.simdb"), store.Options{NoAutoCompaction: true, NoSync: true})
	must.Do(t, err)
	defer db.Close()
	const n = 2*longRun + 100
	r, ctx := rand.New(rand.NewPCG(1, 1)), t.Context()
	fps := [2]base.Fingerprint{0, 0xffff}
	var ids [2][]string
	for half := range 2 {
		var ops []store.Operation
		for i := range n {
			for x := range fps {
				id := fmt.Sprintf("%d-%d-%d", r.IntN(1000), x, half*n+i)
				ids[x] = append(ids[x], id)
				ops = append(ops, store.Put(view.Doc{ID: id, Fingerprint: &fps[x]}))
			}
		}
		_, err := db.Write(ctx, ops)
		must.Do(t, err)
		if half == 0 {
			must.Do(t, db.Flush(ctx))
		}
	}
	slices.Sort(ids[0])
	slices.Sort(ids[1])
	v, err := db.View()
	must.Do(t, err)
	defer v.Close()
	queries := []base.Fingerprint{0, 1, 2, 0xffff, 0xfffe, 0, 0xfffe, 0xff}
	for _, matches := range []int{1 << 20, 5 * n} {
		var found [8][]view.Match
		must.Do(t, EachBatch(ctx, v, [][]base.Fingerprint{queries}, 8, len(queries), matches, func(query int, m view.Match) bool {
			found[query] = append(found[query], m)
			return true
		}))
		for query, fp := range queries {
			var want []view.Match
			for _, x := range []int{0, 1} {
				if d := base.Distance(fp, fps[x]); d <= 8 && fp != 0xff {
					for _, id := range ids[x] {
						want = append(want, view.Match{ID: id, Distance: d})
					}
				}
			}
			if fp == 0xff { // equally near to both
				for _, id := range append(slices.Clone(ids[0]), ids[1]...) {
					want = append(want, view.Match{ID: id, Distance: 8})
				}
				slices.SortFunc(want, func(a, b view.Match) int { return strings.Compare(a.ID, b.ID) })
			}
			if !slices.Equal(found[query], want) {
				t.Fatalf("query %d (%x), %d matches at a time: %d found, want %d", query, fp, matches, len(found[query]), len(want))
			}
		}
	}
}
