package ordered

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestInPlace sorts random and sorted elements, and checks that sorting stops when its context
// ends.
func TestInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, n := range []int{0, 1, 100, runLength + 1, 5 * runLength} {
		want := make([]int, n)
		for i := range want {
			want[i] = i
		}
		for _, got := range [][]int{slices.Clone(want), r.Perm(n)} {
			if err := InPlace(t.Context(), got, cmp.Compare[int]); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%d elements: %v", n, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := InPlace(ctx, r.Perm(20*runLength), func(a, b int) int {
		if calls++; calls == 1000 {
			cancel()
		}
		return cmp.Compare(a, b)
	})
	if !errors.Is(err, context.Canceled) || calls > 4*runLength {
		t.Errorf("%v after %d comparisons", err, calls)
	}
	if err := InPlace(t.Context(), make([]int, 3*runLength), cmp.Compare[int]); err != nil {
		t.Error(err)
	}
}
