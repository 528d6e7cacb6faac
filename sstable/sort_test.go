package sstable

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// testKeys returns n keys: uniform, clustered, of few values, or of few bits.
func testKeys(rng *rand.Rand, n int) []uint64 {
	keys := make([]uint64, n)
	shape, center := rng.IntN(4), rng.Uint64()
	for i := range keys {
		switch shape {
		case 0:
			keys[i] = rng.Uint64()
		case 1:
			keys[i] = center + rng.Uint64N(1000)
		case 2:
			keys[i] = center * rng.Uint64N(5)
		case 3:
			keys[i] = center ^ 1<<rng.UintN(64)
		}
	}
	return keys
}

func TestRadixSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, smallSort - 1, smallSort, smallSort + 1, 1000, 30000} {
		for range 20 {
			keys, width := testKeys(rng, n), 1+rng.IntN(64)
			want := slices.Clone(keys)
			slices.SortStableFunc(want, func(a, b uint64) int { return cmp.Compare(a<<(64-width), b<<(64-width)) })
			got, spare := radixSort(keys, make([]uint64, n), width)
			if !slices.Equal(got, want) || len(spare) != n {
				t.Fatalf("%d keys by %d bits: not sorted", n, width)
			}
		}
	}
}

func TestRadixSortPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 2, 100, 1000, 30000} {
		for range 10 {
			p := pairs{testKeys(rng, n), make([]uint32, n)}
			type pair struct {
				key uint64
				val uint32
			}
			want := make([]pair, n)
			for i := range want {
				p.vals[i] = uint32(i)
				want[i] = pair{p.keys[i], uint32(i)}
			}
			slices.SortStableFunc(want, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
			got := radixSortPairs(p, pairs{make([]uint64, n), make([]uint32, n)})
			for i, w := range want {
				if got.keys[i] != w.key || got.vals[i] != w.val {
					t.Fatalf("%d pairs: position %d has %x, %d, want %x, %d", n, i, got.keys[i], got.vals[i], w.key, w.val)
				}
			}
		}
	}
}

func TestNextOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, l := range []Layout{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {7, 1}, {8, 1}, {16, 1}, {3, 2}, {4, 4}, {5, 2}, {6, 3}, {8, 2}} {
		for _, n := range []int{0, 1, 50, 3000} {
			fps := testKeys(rng, n)
			slices.Sort(fps)
			fps = distinct(fps)
			keys, tmp := slices.Clone(fps), make([]uint64, len(fps))
			for from, to := 0, l.Tables()-1; to > 0; from, to = to, to-1 {
				keys, tmp = nextOrder(l, from, to, keys, tmp)
				want := make([]uint64, len(fps))
				for i, fp := range fps {
					want[i] = l.Permute(to, fp)
				}
				slices.Sort(want)
				if !slices.Equal(keys, want) {
					t.Fatalf("layout %v, table %d of %d keys: wrong order", l, to, n)
				}
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	const n = 1 << 20
	rng := rand.New(rand.NewPCG(11, 12))
	random := make([]uint64, n)
	for i := range random {
		random[i] = rng.Uint64()
	}
	sorted := slices.Sorted(slices.Values(random))
	keys, tmp := make([]uint64, n), make([]uint64, n)
	perKey := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
	}
	b.Run("radix", func(b *testing.B) {
		for b.Loop() {
			copy(keys, random)
			radixSort(keys, tmp, 64)
		}
		perKey(b)
	})
	b.Run("pairs", func(b *testing.B) {
		p, q := pairs{keys, make([]uint32, n)}, pairs{tmp, make([]uint32, n)}
		for b.Loop() {
			copy(keys, random)
			radixSortPairs(p, q)
		}
		perKey(b)
	})
	for _, l := range []Layout{{4, 1}, {2, 1}, {3, 1}, {5, 2}} {
		b.Run(fmt.Sprintf("next-order/%v", l), func(b *testing.B) {
			for b.Loop() {
				copy(keys, sorted)
				nextOrder(l, 0, l.Tables()-1, keys, tmp)
			}
			perKey(b)
		})
	}
}
