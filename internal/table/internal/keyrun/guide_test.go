package keyrun

import (
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// hashRun returns a run of n random hashes of bits bits, with values, and the hashes.
func hashRun(t testing.TB, n, bits int) (*Run, []uint64) {
	rnd := keytest.Rand("hashes", n+bits)
	keys := keytest.Fill(n, func(int) uint64 { return rnd.Uint64() >> (64 - bits) })
	slices.Sort(keys)
	w := NewPairWriter(nil, uint32(n-1))
	for i, k := range keys {
		if err := w.AddPair(k, uint32(i)); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(testSection(w.out, dir))
	if err != nil {
		t.Fatal(err)
	}
	return r, keys
}

// TestGuideOfHashes searches keys with leading zeros, like hashes of 38 bits, with values: the
// guide must find them as it does keys of 64 bits. At most one key in a hundred may need a search
// beyond the window.
func TestGuideOfHashes(t *testing.T) {
	for _, bits := range []int{64, 40, 38, 17} {
		for _, n := range []int{20_000, 300_000} {
			r, keys := hashRun(t, n, bits)
			rnd := keytest.Rand("guide", n)
			far := 0
			const searches = 5000
			for i := range searches {
				key := keys[rnd.IntN(n)]
				if i%2 == 0 {
					key = rnd.Uint64() >> (64 - bits)
				}
				start := r.window(key)
				block, _ := r.Blocks(key, key)
				if at := block - start; at <= 0 && start > 0 || at >= guideWindow && start+guideWindow < r.blocks {
					far++
				}
				lo, hi, err := r.Find(key)
				want, _ := slices.BinarySearch(keys, key)
				if end, _ := slices.BinarySearch(keys, key+1); err != nil || lo != want || hi != end {
					t.Fatalf("Find(%x) = %d, %d, %v, want %d, %d", key, lo, hi, err, want, end)
				}
				if got, err := r.LowerBound(key); err != nil || got != want {
					t.Fatalf("LowerBound(%x) = %d, %v, want %d", key, got, err, want)
				}
			}
			if far > searches/100 && bits > 17 { // with 17 bits, most keys are repeated
				t.Errorf("%d keys of %d bits: %d of %d searches are not in the window", n, bits, far, searches)
			}
			for _, key := range []uint64{1 << bits, ^uint64(0)} { // greater than all keys
				if bits == 64 {
					continue
				}
				if lo, hi, err := r.Find(key); err != nil || lo != n || hi != n {
					t.Errorf("Find(%x) = %d, %d, %v", key, lo, hi, err)
				}
			}
		}
	}
}
