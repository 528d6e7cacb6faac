package ordered

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// testKeys returns n keys: uniform, clustered, with few values, or with few bits.
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

func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, smallSort - 1, smallSort, smallSort + 1, 1000, 30000} {
		for range 20 {
			keys, width := testKeys(rng, n), 1+rng.IntN(64)
			want := slices.Clone(keys)
			slices.SortStableFunc(want, func(a, b uint64) int { return cmp.Compare(a<<(64-width), b<<(64-width)) })
			got, spare := Radix(keys, make([]uint64, n), width)
			if !slices.Equal(got, want) || len(spare) != n {
				t.Fatalf("%d keys by %d bits: not sorted", n, width)
			}
		}
	}
}

func TestSortLeading(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 1, 2, leastScattered - 1, leastScattered, 100, 1<<fewBits - 1, 1 << fewBits, 1000, 1<<scatterBits - 1, 1 << scatterBits, 30000} {
		for range 20 {
			keys := testKeys(rng, n)
			if shift := rng.UintN(64); rng.IntN(2) == 0 {
				for i := range keys {
					keys[i] = keys[i]>>shift | 1<<63
				}
			}
			want := slices.Sorted(slices.Values(keys))
			got, spare := SortLeading(keys, make([]uint64, n))
			if !slices.Equal(got, want) || len(spare) != n {
				t.Fatalf("%d keys: not sorted", n)
			}
		}
	}
}

func TestSortPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 2, 100, 1000, 30000} {
		for range 10 {
			p := Pairs{testKeys(rng, n), make([]uint32, n)}
			type pair struct {
				key uint64
				val uint32
			}
			want := make([]pair, n)
			for i := range want {
				p.Vals[i] = uint32(i)
				want[i] = pair{p.Keys[i], uint32(i)}
			}
			slices.SortStableFunc(want, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
			got := SortPairs(p, Pairs{make([]uint64, n), make([]uint32, n)})
			for i, w := range want {
				if got.Keys[i] != w.key || got.Vals[i] != w.val {
					t.Fatalf("%d pairs: position %d has %x, %d, want %x, %d", n, i, got.Keys[i], got.Vals[i], w.key, w.val)
				}
			}
		}
	}
}

// BenchmarkSort sorts a million keys.
func BenchmarkSort(b *testing.B) {
	const n = 1 << 20
	rng := rand.New(rand.NewPCG(11, 12))
	random := make([]uint64, n)
	for i := range random {
		random[i] = rng.Uint64()
	}
	keys, tmp := make([]uint64, n), make([]uint64, n)
	perKey := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
	}
	b.Run("keys", func(b *testing.B) {
		for b.Loop() {
			copy(keys, random)
			Radix(keys, tmp, 64)
		}
		perKey(b)
	})
	b.Run("leading", func(b *testing.B) {
		for b.Loop() {
			copy(keys, random)
			SortLeading(keys, tmp)
		}
		perKey(b)
	})
	b.Run("pairs", func(b *testing.B) {
		p, q := Pairs{keys, make([]uint32, n)}, Pairs{tmp, make([]uint32, n)}
		for b.Loop() {
			copy(keys, random)
			SortPairs(p, q)
		}
		perKey(b)
	})
}

// BenchmarkSortFew sorts the hashes of short texts.
func BenchmarkSortFew(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{20, 40, 80, 200, 1000, 4000} {
		sets := make([]uint64, 1000*n) // a thousand sets, so that branches cannot be learned
		for i := range sets {
			sets[i] = rng.Uint64()
		}
		keys, tmp := make([]uint64, n), make([]uint64, n)
		for _, by := range []struct {
			name string
			sort func()
		}{{"leading", func() { SortLeading(keys, tmp) }}, {"slices.Sort", func() { slices.Sort(keys) }}} {
			b.Run(fmt.Sprintf("n=%d/%s", n, by.name), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					copy(keys, sets[i%1000*n:])
					by.sort()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
			})
		}
	}
}

// TestSortContext ends a context at random moments of a sort, which then stops early and returns
// the error.
func TestSortContext(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	keys := make([]uint64, 6*checkEvery)
	for i := range keys {
		keys[i] = rng.Uint64()
	}
	tmp := make([]uint64, len(keys))
	for looks := range 42 {
		ctx := &endingContext{Context: t.Context(), left: looks}
		_, _, err := SortContext(ctx, keys, tmp, 64)
		if err == nil {
			t.Fatalf("not stopped at look %d", looks)
		}
		if ctx.looks != looks+1 {
			t.Fatalf("it went on: %d looks, not %d", ctx.looks, looks+1)
		}
	}
	sorted, _, err := SortContext(t.Context(), keys, tmp, 64)
	if err != nil || !slices.IsSorted(sorted) {
		t.Fatal("not sorted", err)
	}
}

// endingContext ends after it was checked a number of times.
type endingContext struct {
	context.Context
	looks, left int
}

func (c *endingContext) Err() error {
	c.looks++
	if c.looks > c.left {
		return context.Canceled
	}
	return nil
}

// TestSortParts sorts by parts, with several workers, and compares the result with a stable sort.
func TestSortParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 1, partLow - 1, partLow, partLow + 1, 3*partLow + 17} {
		for i := range 12 {
			keys, width := testKeys(rng, n), 1+rng.IntN(64)
			want := slices.Clone(keys)
			slices.SortStableFunc(want, func(a, b uint64) int { return cmp.Compare(a<<(64-width), b<<(64-width)) })
			got, spare := SortParts(keys, make([]uint64, n), width, i%4)
			if !slices.Equal(got, want) || len(spare) != n || n > 0 && &got[0] == &spare[0] {
				t.Fatalf("%d keys by %d bits, %d workers: not sorted", n, width, i%4)
			}
		}
	}
}

// BenchmarkSortParts compares the two ways to sort many keys.
func BenchmarkSortParts(b *testing.B) {
	for _, n := range []int{1 << 17, 1 << 20, 6 << 20} {
		rng := rand.New(rand.NewPCG(11, 12))
		random := make([]uint64, n)
		for i := range random {
			random[i] = rng.Uint64()
		}
		keys, tmp := make([]uint64, n), make([]uint64, n)
		for _, c := range []struct {
			name string
			sort func(width int)
		}{
			{"one", func(width int) { Radix(keys, tmp, width) }},
			{"parts", func(width int) { SortParts(keys, tmp, width, 1) }},
			{"parts/2 workers", func(width int) { SortParts(keys, tmp, width, 2) }},
		} {
			for _, width := range []int{38, 48, 64} {
				b.Run(fmt.Sprintf("n=%d/width=%d/%s", n, width, c.name), func(b *testing.B) {
					for b.Loop() {
						copy(keys, random)
						c.sort(width)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
				})
			}
		}
	}
}

func TestSort32(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{0, 1, 2, smallSort - 1, smallSort, smallSort + 1, 1000, 30000} {
		for range 20 {
			keys, shift := make([]uint32, n), rng.UintN(32)
			for i, k := range testKeys(rng, n) {
				keys[i] = uint32(k) << shift
			}
			want := slices.Sorted(slices.Values(keys))
			got, spare := Sort32(keys, make([]uint32, n))
			if !slices.Equal(got, want) || len(spare) != n {
				t.Fatalf("%d keys: not sorted", n)
			}
		}
	}
}
