package setjoin

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFew compares matches with brute force, for very similar sets and empty ones, at thresholds
// where rounding matters.
func TestFew(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	found := 0
	for _, threshold := range []float64{1.0 / 3, 0.5, 0.7, 0.8, 1} {
		for range 24 {
			sets := corpus(r, 120)
			for _, set := range sets {
				slices.Sort(set)
			}
			role := FewRole(r.IntN(4))
			if role == FewWeighted {
				sets = withWeights(r, sets)
			}
			few := sets[:r.IntN(60)]
			like := map[FewRole]func(set, other []uint64) float64{
				FewJaccard: jaccard, FewContaining: share, FewWeighted: weightedJaccard,
				FewContained: func(set, other []uint64) float64 { return share(other, set) },
			}[role]
			x := NewFew(few, threshold, role).Finder()
			for n, set := range sets {
				var want []FewMatch
				for other, y := range few {
					if s := like(set, y); len(set) > 0 && s >= threshold {
						want = append(want, FewMatch{other, s})
					}
				}
				got := x.Append(nil, set)
				slices.SortFunc(got, func(a, b FewMatch) int { return cmp.Compare(a.Set, b.Set) })
				if !slices.Equal(got, want) {
					t.Fatalf("role %v, threshold %v, set %d of %d elements: %v, want %v", role, threshold, n, len(set), got, want)
				}
				found += len(got)
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d matches are compared", found)
	}
}
