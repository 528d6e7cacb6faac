package write

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestArena adds strings of all sizes, and reads all again after each round.
func TestArena(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	var a Arena
	for round := range 6 {
		var want [][]byte
		var at []uint32
		for range []int{0, 1, 300, 20_000, 3000, 50_000}[round] {
			s := make([]byte, r.IntN(40))
			switch r.IntN(1000) {
			case 0:
				s = make([]byte, r.IntN(maxString+1))
			case 1:
				s = make([]byte, maxString)
			case 2, 3, 4:
				s = make([]byte, 120+r.IntN(300))
			}
			for i := range s[:min(len(s), 100)] {
				s[i] = byte(r.Uint32())
			}
			want, at = append(want, s), append(at, a.Add(s))
			if a.Full() {
				t.Fatal("full")
			}
		}
		total := 0
		for i, s := range want {
			a.Prefetch(at[i])
			if got := a.Get(at[i]); !bytes.Equal(got, s) || cap(got) != len(got) {
				t.Fatalf("round %d: string %d has %d bytes, want %d, or others", round, i, len(got), len(s))
			}
			total += len(s)
		}
		bytes := 0
		for _, b := range a.blocks {
			bytes += cap(b)
		}
		if bytes < total {
			t.Errorf("round %d: %d bytes for strings of %d", round, bytes, total)
		}
		if total > 0 && total < 1<<12 && bytes > 8<<10 && round < 3 {
			t.Errorf("round %d: %d bytes for strings of %d", round, bytes, total)
		}
		a.Reset()
	}
}
