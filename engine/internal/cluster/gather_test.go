package cluster

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/selfjoin"
)

// TestMergeRuns merges sorted runs, some empty, and compares with a stable sort.
func TestMergeRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 300 {
		type item struct{ fp, loc uint64 }
		var all located
		var want []item
		var ends []int
		for run := range r.IntN(7) {
			var items []item
			for doc := range r.IntN(3) * r.IntN(20) {
				items = append(items, item{r.Uint64N(30), uint64(run)<<32 | uint64(doc)})
			}
			slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.fp, b.fp) })
			for _, it := range items {
				all.add(it.fp, it.loc)
			}
			want = append(want, items...)
			ends = append(ends, len(want))
		}
		slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.fp, b.fp) })
		got := mergeRuns(all, ends)
		for i, w := range want {
			if got.fps[i] != w.fp || got.locs[i] != w.loc {
				t.Fatalf("runs that end at %v: item %d is %d at %x, want %d at %x", ends, i, got.fps[i], got.locs[i], w.fp, w.loc)
			}
		}
	}
}

// TestGroup compares groups of equal fingerprints with slices.Compact.
func TestGroup(t *testing.T) {
	for _, fps := range [][]uint64{nil, {7}, {1, 2, 3}, {4, 4, 4}, {0, 0, 1, 5, 5, 6}, {1, 2, 2}} {
		j := &joinSet{items: len(fps)}
		j.group(selfjoin.Columns{slices.Clone(fps)})
		if want := slices.Compact(slices.Clone(fps)); !slices.Equal(j.fps[0], want) || j.classes.N != len(want) {
			t.Fatalf("%v: groups are %v", fps, j.fps)
		}
		next := uint32(0)
		for g := range j.classes.N {
			s := j.classes.Span(uint32(g))
			lo, hi := s.Lo, s.Hi
			if lo != next || hi <= lo {
				t.Fatalf("%v: group %d is items %d to %d", fps, g, lo, hi)
			}
			for _, fp := range fps[lo:hi] {
				if fp != j.fps[0][g] {
					t.Fatalf("%v: group %d has a %d", fps, g, fp)
				}
			}
			next = hi
		}
		if int(next) != len(fps) {
			t.Fatalf("%v: groups end at %d", fps, next)
		}
	}
}
