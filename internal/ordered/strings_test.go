package ordered

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortStrings compares with a sort by comparison: strings with common prefixes of any length,
// zero bytes at their ends, and prefixes of others.
func TestSortStrings(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		n, letters := r.IntN(3*fewStrings), 1+r.IntN(4)
		common := bytes.Repeat([]byte("x"), r.IntN(20))
		strings := make([][]byte, n)
		for i := range strings {
			s := bytes.Clone(common)
			if r.IntN(3) > 0 {
				s = append(s, "0123456789ab"[:r.IntN(13)]...)
			}
			for range r.IntN(12) {
				s = append(s, byte(r.IntN(letters)))
			}
			strings[i] = s
		}
		want := slices.SortedFunc(slices.Values(strings), bytes.Compare)
		got := SortStrings(Pairs{make([]uint64, n), Numbers(n)}, MakePairs(n), func(i uint32) []byte { return strings[i] })
		seen := make([]bool, n)
		for j, i := range got {
			if seen[i] || !bytes.Equal(strings[i], want[j]) {
				t.Fatalf("string %d of %d is %q, want %q", j, n, strings[i], want[j])
			}
			seen[i] = true
		}
	}
}
