package ordered

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCommon compares Common with a count of the common elements, for values of need near that
// count.
func TestCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n, of int) (s []uint64) {
		for range n {
			s = append(s, uint64(r.IntN(of)))
		}
		slices.Sort(s)
		return slices.Compact(s)
	}
	for range 3000 {
		of := 1 + r.IntN(60)
		a, b := random(r.IntN(50), of), random(r.IntN(50), of)
		n := 0
		for _, x := range a {
			if slices.Contains(b, x) {
				n++
			}
		}
		for _, need := range []int{0, n - 1, n, n + 1, r.IntN(50)} {
			want := n
			if n < need {
				want = -1
			}
			if got := Common(a, b, need); need >= 0 && got != want {
				t.Fatalf("%v and %v of which %d are needed: %d, want %d", a, b, need, got, want)
			}
		}
	}
}
