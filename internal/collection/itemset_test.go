package collection

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestItemSet numbers the members of random sets.
func TestItemSet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 100 {
		n := 1 + r.IntN(300)
		set, want := NewItemSet(n), []uint32{}
		for range r.IntN(n) {
			i := uint32(r.IntN(n))
			set.Add(i)
			want = append(want, i)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		if got := set.Count(); got != len(want) {
			t.Fatalf("%d members, want %d", got, len(want))
		}
		var got []uint32
		set.All(func(i uint32) error { got = append(got, i); return nil })
		if !slices.Equal(got, want) {
			t.Fatalf("members %v, want %v", got, want)
		}
		for number, i := range want {
			if set.Number(i) != uint32(number) {
				t.Fatalf("member %d has number %d, want %d", i, set.Number(i), number)
			}
		}
	}
}
