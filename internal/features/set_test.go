package features

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestJaccardAtLeast compares scores with brute force, at thresholds equal to them and close
// to them.
func TestJaccardAtLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n, of int) (s Hashes) {
		for range n {
			s = append(s, uint64(r.IntN(of)))
		}
		slices.Sort(s)
		return slices.Compact(s)
	}
	for range 3000 {
		of := 1 + r.IntN(60)
		a, b := random(r.IntN(50), of), random(r.IntN(50), of)
		score := 0.0
		if n := len(slices.Concat(a, b)) - len(slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))); n > 0 {
			score = float64(n) / float64(len(a)+len(b)-n)
		}
		if got := new(SetHasher).Jaccard(a, b); got != score {
			t.Fatalf("%v and %v: %v, want %v", a, b, got, score)
		}
		for _, at := range []float64{score, score + 1e-16, score + 1e-9, score - 1e-9, 0.5, 0.8, 2. / 3, 1, r.Float64(), 1e-300} {
			if at <= 0 {
				continue
			}
			got, ok := a.jaccardAtLeast(b, at)
			if ok != (score >= at) || ok && got != score {
				t.Fatalf("%v and %v at %v: %v, %v; want %v", a, b, at, got, ok, score)
			}
		}
	}
}

// TestSetHasher compares the sets of a reused SetHasher with those of new ones.
func TestSetHasher(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := NewSetHasher(Spec{}, 3, 0)
	text := func() []byte {
		b := []byte{}
		for range r.IntN(20) {
			b = fmt.Appendf(b, "w%d ", r.IntN(9))
		}
		return b
	}
	want := func(text []byte) Hashes { return NewSetHasher(Spec{}, 3, 0).Set(text) }
	last := text()
	for range 500 {
		if r.IntN(2) == 0 {
			last = text()
		}
		got := s.LastSet(last)
		other := text()
		if brief := s.Brief(other); !slices.Equal(brief, want(other)) {
			t.Fatalf("%q: %v, want %v", other, brief, want(other))
		}
		if !slices.Equal(got, want(last)) {
			t.Fatalf("%q: %v, want %v", last, got, want(last))
		}
	}
}
