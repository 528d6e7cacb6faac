package ordered

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLeast selects from different keys, and from keys with many duplicates.
func TestLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		keys := make([]uint64, r.IntN(300))
		values := []uint64{1, 3, 100, 1 << 60}[r.IntN(4)]
		for i := range keys {
			keys[i] = r.Uint64N(values)
		}
		n := r.IntN(len(keys) + 1)
		want := slices.Sorted(slices.Values(keys))
		Least(keys, n)
		least, rest := keys[:n], keys[n:]
		slices.Sort(least)
		slices.Sort(rest)
		if !slices.Equal(least, want[:n]) || !slices.Equal(rest, want[n:]) {
			t.Fatalf("%d of %d keys: not the least", n, len(keys))
		}
	}
}
