package setjoin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/selfjoin"
)

// TestTally checks when joins count common elements, and that these joins find all pairs.
func TestTally(t *testing.T) {
	draw := func(n, size, space, skew int) (sets [][]uint64) {
		r := rand.New(rand.NewPCG(uint64(space), 14))
		for range n {
			var set []uint64
			for range size {
				v := r.IntN(space)
				for range skew {
					v = min(v, r.IntN(space))
				}
				set = append(set, uint64(v+1)*0x9e3779b97f4a7c15)
			}
			slices.Sort(set)
			sets = append(sets, slices.Compact(set))
		}
		return sets
	}
	short, long := draw(700, 40, 1000, 3), draw(700, 40, 1_000_000, 0)
	for _, c := range []struct {
		sets  [][]uint64
		at    float64
		tally [3]bool // pairs, stars, components
		name  string
	}{
		{short, 0.25, [3]bool{true, true, true}, "names by characters"},
		{short, 0.75, [3]bool{true, false, false}, "a threshold where stars need few visits"},
		{short, 0.95, [3]bool{}, "a high threshold"},
		{long, 0.25, [3]bool{}, "rare elements"},
		{short[:30], 0.25, [3]bool{}, "few sets"},
	} {
		s := add(t, c.sets, SetsOptions{})
		for kind, want := range c.tally {
			j, err := newJoin(context.Background(), s, c.at, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if j.all = kind != 1; kind == 2 {
				j.forest = selfjoin.NewForest(len(c.sets))
			}
			if err := j.count(); err != nil {
				t.Fatal(err)
			}
			if got := j.index.tally != nil; got != want || got != (j.within.tally != nil) {
				t.Errorf("%s, kind %d: counted %v, want %v", c.name, kind, got, want)
			}
			if j.index.reset(); want {
				before := j.index.bytes()
				f, _ := j.workers[0].prefixer.of(c.sets[0], nil)
				if j.index.add(0, &f); j.index.bytes() < before+int64(len(c.sets[0]))*listBytes/2 {
					t.Errorf("%s: the memory of lists is not counted", c.name)
				}
			}
			if j.finder.visited != 0 {
				t.Errorf("%s: visits of the sample count as those of the join", c.name)
			}
		}
		var got, want []string
		if err := s.Pairs(context.Background(), c.at, Options{window: 300}, func(a, b int, score float64) bool {
			got = append(got, fmt.Sprint(a, b, score))
			return true
		}); err != nil {
			t.Fatal(err)
		}
		compare := Measure{}.Comparer(c.at)
		for b := range c.sets {
			for a := range b {
				if score, ok := compare(c.sets[a], c.sets[b]); ok {
					want = append(want, fmt.Sprint(a, b, score))
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d pairs, want %d", c.name, len(got), len(want))
		}
	}
}
