package engine

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBestFirst finds the least, and loses nothing.
func TestBestFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 2000 {
		all := make([]int, r.IntN(200))
		for i := range all {
			all[i] = r.IntN(100)
		}
		n := r.IntN(len(all) + 10)
		want := slices.Sorted(slices.Values(all))
		if best := bestFirst(all, n, cmp.Compare[int]); !slices.Equal(best, want[:min(n, len(want))]) {
			t.Fatalf("the least %d are %v, want %v", n, best, want[:min(n, len(want))])
		}
		if slices.Sort(all); !slices.Equal(all, want) {
			t.Fatalf("%v became %v", want, all)
		}
	}
}
