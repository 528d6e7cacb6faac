package store

import (
	"math/rand/v2"
	"testing"
)

// TestLoadedHasAll compares the answer for all ranges of numbers with a check of each number.
func TestLoadedHasAll(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 2))
	for range 200 {
		var l Loaded
		const most = 60
		var has [most + 1]bool
		for next := 1 + r.Uint64N(3); next < most-10; next += r.Uint64N(2) * r.Uint64N(4) {
			s := SeqRange{next, next + r.Uint64N(10)}
			l.Seqs = append(l.Seqs, s)
			for ; next <= s.Last; next++ {
				has[next] = true
			}
		}
		for first := range uint64(most) {
			all := true
			for last := first; last < most; last++ {
				all = all && has[last]
				if got := l.hasAll(first, last); got != all {
					t.Fatalf("%v: %d to %d: %t, want %t", l.Seqs, first, last, got, all)
				}
			}
		}
	}
}
