package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTogether compares the state of bands after eight columns computed by vectors with their state
// after four pairs of columns.
func TestTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	alphabet := []rune("aaaabbc")
	for r := rune(0x4e00); r < 0x4e00+40; r++ { // stored in lists
		alphabet = append(alphabet, r)
	}
	for range 2000 {
		text := make([]rune, 1+rng.IntN(64*40))
		for i := range text {
			text[i] = alphabet[rng.IntN(len(alphabet))]
		}
		p, q := NewPattern(string(text)), NewPattern(string(text))
		first := rng.IntN(p.blocks)
		last := first + rng.IntN(p.blocks-first)
		for w := range p.blocks {
			p.pv[w] = rng.Uint64()
			p.mv[w] = rng.Uint64() &^ p.pv[w]
		}
		copy(q.pv, p.pv)
		copy(q.mv, p.mv)
		x, y := band{p: p, first: first, last: last}, band{p: q, first: first, last: last}
		columns := []rune("xxxxxxxx") // runes that the pattern lacks
		for i := range columns {
			if rng.IntN(4) > 0 {
				columns[i] = alphabet[rng.IntN(len(alphabet))]
			}
		}
		if done := at.eight != Go && x.eight(columns); done != (at.eight != Go && last-first+1 >= leastTogether) {
			t.Fatalf("%d blocks at level %v: together %v", last-first+1, active, done)
		} else if !done {
			continue
		}
		for i := 0; i < together; i += 2 {
			y.two(columns[i], columns[i+1])
		}
		if x.above != y.above || !slices.Equal(p.pv[first:last+1], q.pv[first:last+1]) || !slices.Equal(p.mv[first:last+1], q.mv[first:last+1]) {
			t.Fatalf("blocks %d to %d of %d are not those of pairs of columns", first, last, p.blocks)
		}
	}
}
