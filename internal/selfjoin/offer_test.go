package selfjoin

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOffer selects two of three documents, and compares the offers with brute force, for all
// pairs at once and for one stretch at a time.
func TestOffer(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 3))
		fps := make([]uint64, 300)
		for i := range fps {
			fps[i] = r.Uint64N(1<<10) | r.Uint64N(4)<<40
		}
		fps = distinct(fps)
		var docs Documents
		for range 700 {
			own := []uint32{uint32(r.IntN(len(fps)))}
			for seed%2 == 1 && r.IntN(3) == 0 {
				own = append(own, uint32(r.IntN(len(fps))))
			}
			slices.Sort(own)
			docs.Codes = append(docs.Codes, slices.Compact(own)...)
			docs.Ends = append(docs.Ends, uint32(len(docs.Codes)))
		}
		if seed%2 == 0 {
			docs.Ends = nil
		}
		for k := range 4 {
			for _, budget := range []int{1 << 30, 5000, 700} {
				next := uint32(0)
				err := offer(context.Background(), Columns{fps}, docs, k, Options{Workers: 2}, budget, func(p uint32, kept []uint32) (bool, error) {
					var want []uint32
					for q := range p {
						if q%3 > 0 && slices.ContainsFunc(docs.Of(p), func(f uint32) bool {
							return slices.ContainsFunc(docs.Of(q), func(g uint32) bool { return Columns{fps}.Distance(f, g) <= k })
						}) {
							want = append(want, q)
						}
					}
					if p != next || !slices.Equal(kept, want) {
						t.Fatalf("k = %d, budget %d: %d was offered %v, want %v", k, budget, p, kept, want)
					}
					next++
					return p%3 > 0, nil
				})
				if err != nil || next != 700 {
					t.Fatalf("k = %d, budget %d: %d documents; %v", k, budget, next, err)
				}
			}
		}
		err := offer(context.Background(), Columns{fps}, docs, 64, Options{}, 10, func(uint32, []uint32) (bool, error) { return true, nil })
		if !errors.Is(err, ErrManyOffers) {
			t.Fatalf("one pair at a time: %v", err)
		}
	}
}
