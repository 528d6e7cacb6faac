package token

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAppendNew(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s HashSet
	for range 300 {
		n := r.IntN(1 << r.IntN(18))
		values := 1 + r.Uint64N(1<<r.IntN(64))
		s.Reset(r.IntN(2*n + 1))
		seen := map[uint64]bool{}
		var got, want []uint64
		for n > 0 {
			batch := make([]uint64, r.IntN(n)+1)
			for i := range batch {
				batch[i] = r.Uint64N(values)
				if !seen[batch[i]] {
					seen[batch[i]] = true
					want = append(want, batch[i])
				}
			}
			got = s.AppendNew(got, batch)
			n -= len(batch)
		}
		if !slices.Equal(got, want) || s.Len() != len(want) {
			t.Fatalf("%d hashes, Len %d; want %d", len(got), s.Len(), len(want))
		}
	}
}

func TestResetGivesLargeTablesBack(t *testing.T) {
	var s HashSet
	for i := range uint64(keepSlots) {
		s.AppendNew(nil, []uint64{i * 3})
	}
	if s.Reset(10); cap(s.slots) != minSlots || s.Len() != 0 {
		t.Errorf("%d slots, Len %d after Reset", cap(s.slots), s.Len())
	}
}

func BenchmarkAppendNew(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, 8500)
	for i := range hashes {
		hashes[i] = r.Uint64()
	}
	var s HashSet
	var buf [2048]uint64
	for i := range hashes { // every tenth hash is a repetition
		if r.IntN(10) == 0 {
			hashes[i] = hashes[r.IntN(i+1)]
		}
	}
	for b.Loop() {
		s.Reset(len(hashes))
		for h := range slices.Chunk(hashes, 350) {
			s.AppendNew(buf[:0], h)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(hashes)), "ns/hash")
}
