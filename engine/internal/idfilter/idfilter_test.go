package idfilter

import (
	"math/rand/v2"
	"testing"
)

// TestFilter adds hashes and looks up these and others. Hashes are those of table.HashID: their low
// 26 bits are zero.
func TestFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{0, 1, 100, 30_000, 300_000} {
		for bitsPerID, most := range map[int]int{0: 10_000, 10: 180, 16: 50} { // of 10,000 wrong answers
			f, in := New(int64(n*bitsPerID/8)), make([]uint64, n)
			for i := range in {
				in[i] = r.Uint64() >> 26 << 26
				f.Add(in[i])
			}
			for _, h := range in {
				if !f.Has(h) {
					t.Fatalf("%d with %d bits: a hash that was added is not there", n, bitsPerID)
				}
			}
			wrong := 0
			for range 10_000 {
				if f.Has(r.Uint64() >> 26 << 26) {
					wrong++
				}
			}
			if wrong > most {
				t.Errorf("%d with %d bits: %d of 10000 that were not added are there", n, bitsPerID, wrong)
			}
			if f.Bytes() > n*bitsPerID/8+line {
				t.Errorf("%d with %d bits: %d bytes", n, bitsPerID, f.Bytes())
			}
		}
	}
}
