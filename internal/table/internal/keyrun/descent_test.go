package keyrun

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDescent compares descent with a loop, on keys that ascend except for one or two places.
func TestDescent(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		keys := make([]uint64, rng.IntN(40))
		for i := range keys {
			keys[i] = rng.Uint64() >> (rng.IntN(2) * 60)
		}
		slices.Sort(keys)
		for range rng.IntN(3) {
			if len(keys) > 0 {
				keys[rng.IntN(len(keys))] = rng.Uint64()
			}
		}
		want := 0
		for i := len(keys) - 1; i > 0; i-- {
			if keys[i] < keys[i-1] {
				want = i
			}
		}
		if got := descent(keys); got != want {
			t.Fatalf("descent(%x) = %d, not %d", keys, got, want)
		}
	}
}
