package hamming

import (
	"math"
	"math/bits"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// TestChooseLayout checks that a layout by size is at most 50 % worse than any other with one
// leading block, by the geometric mean of the model's costs of searches within 3 and within 6. The
// limits were measured; the first is a little below the model's.
func TestChooseLayout(t *testing.T) {
	exhaustive.Sequential(t)
	layouts := []Layout{{2, 1}, {3, 1}, {4, 1}, {5, 1}, {8, 1}}
	score := func(l Layout, n int64) float64 {
		product := 1.0
		for _, k := range []int{3, 6} {
			e, err := EstimateUniform(l, n, k)
			if err != nil {
				t.Fatal(err)
			}
			product *= e.Cost
		}
		return math.Sqrt(product)
	}
	doublings := bits.Len64(uint64(min(1<<32, math.MaxInt) / 100_000)) // more do not fit into memory
	for i := range exhaustive.Every(t, 3).Of(doublings) {
		n := int64(100_000) << i
		chosen := ChooseLayout(n)
		for _, l := range layouts {
			if own, other := score(chosen, n), score(l, n); own > 1.4*other {
				t.Errorf("%d fingerprints: %v costs %.3g, %v %.3g", n, chosen, own, l, other)
			}
		}
	}
}

// TestLayoutLimits compares the limits of the layouts by size with the documentation.
func TestLayoutLimits(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "4:1", 0: "4:1", 1: "4:1", 24 << 20: "4:1", 24<<20 + 1: "3:1", 2 << 30: "3:1", 2<<30 + 1: "2:1", math.MaxInt64: "2:1",
	} {
		if got := ChooseLayout(n).String(); got != want {
			t.Errorf("%d fingerprints: %s, want %s", n, got, want)
		}
	}
	if err := LayoutBySize.Validate(); err == nil || LayoutBySize.String() != "by size" {
		t.Errorf("the layout by size is one: %v", LayoutBySize)
	}
}
