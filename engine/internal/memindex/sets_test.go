package memindex

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGrowingSets searches for sets in a growing memtable: all matching sets must be found, and if
// lists are long, few others.
func TestGrowingSets(t *testing.T) {
	for run := range 200 {
		r := rand.New(rand.NewPCG(uint64(run), 4))
		space := 20 + r.IntN(400)
		var sets [][]uint64
		for range 100 {
			var set []uint64
			for range r.IntN(40) {
				set = append(set, uint64(r.IntN(space)+1)*0x9e3779b97f4a7c15)
			}
			slices.Sort(set)
			sets = append(sets, slices.Compact(set))
		}
		var g GrowingSets
		b := NewBudget(int64(r.IntN(1 << 20)))
		for n := 1; n <= len(sets); n += 1 + r.IntN(10) {
			of, at, within := sets[r.IntN(len(sets))], float64(1+r.IntN(10))/10, r.IntN(2) == 0
			got, _, ok := g.Candidates(b, []uint32{7}, n, func(i int) []uint64 { return sets[i] }, of, at, within)
			if !ok {
				if b.left.Load() > 1<<12 {
					t.Fatalf("run %d: no room, with %d left", run, b.left.Load())
				}
				break
			}
			for i, set := range sets[:n] {
				common := 0
				for _, e := range of {
					if slices.Contains(set, e) {
						common++
					}
				}
				size := len(of)
				if within {
					size = len(set)
				}
				if match := common > 0 && float64(common)/float64(size) >= at; match && !slices.Contains(got[1:], uint32(i)) {
					t.Fatalf("run %d: %d of %d is not found at %v, within %v", run, i, n, at, within)
				}
			}
			if !slices.IsSorted(got[1:]) || len(got) > 1 && int(got[len(got)-1]) >= n {
				t.Fatalf("run %d: %v of %d", run, got, n)
			}
		}
		left := b.left.Load()
		if g.GiveBack(); b.left.Load() < left {
			t.Fatal("nothing is given back")
		}
	}
}
