package setjoin

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestCounts checks that elements in two sets are shared, and that others are shared only if an
// element with the same counter is in another set.
func TestCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, skip := range []int{0, weightBits} {
		c := newCounts(leastLines * fewBytes)
		c.skip = skip
		counter := func(h uint64) uint64 {
			line, bit, _ := c.places(h)
			return line*lineWords*64 + bit
		}
		sets, times := make([][]uint64, 300), map[uint64]int{}
		for i := range sets {
			for range r.IntN(100) {
				h := r.Uint64()
				if r.IntN(4) == 0 {
					h = uint64(r.IntN(50)) << 40
				}
				sets[i] = append(sets[i], h)
			}
			slices.Sort(sets[i])
			sets[i] = slices.Compact(sets[i])
			c.add(sets[i])
			for _, h := range sets[i] {
				times[counter(h)]++
			}
		}
		want := make([][]uint64, len(sets))
		for i, set := range sets {
			for _, h := range set {
				if times[counter(h)] > 1 {
					want[i] = append(want[i], h)
				}
			}
		}
		c.end()
		c.end()
		for i, set := range sets {
			if got, ok := c.appendShared(nil, set, len(set)+1); !ok || !slices.Equal(got, want[i]) {
				t.Fatalf("set %d: %d elements are shared, not %d", i, len(got), len(want[i]))
			}
			for _, h := range set {
				if c.shared(h) != slices.Contains(want[i], h) {
					t.Fatalf("set %d: %x is shared: %v", i, h, c.shared(h))
				}
			}
		}
	}
}

// TestCountsLater compares counting in batches with immediate counting.
func TestCountsLater(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for _, bytes := range []int64{leastParts * partLines * fewBytes / 2, leastParts * partLines * fewBytes, 2 * leastParts * partLines * fewBytes} {
		for _, skip := range []int{0, weightBits} {
			at, later := newCounts(bytes), newCounts(bytes)
			at.skip, later.skip = skip, skip
			for range 3*perLine*len(later.few)/8/chunkElems + laterChunks + 3 {
				elements := make([]uint64, 1+r.IntN(chunkElems))
				for i := range elements {
					if elements[i] = r.Uint64(); r.IntN(3) == 0 {
						elements[i] = uint64(r.IntN(5000)) << 40
					}
				}
				at.add(elements)
				later.addLater(elements)
			}
			at.end()
			later.end()
			if !slices.Equal(at.lines, later.lines) {
				t.Errorf("counters of %d bytes, %d bits skipped: they differ", bytes, skip)
			}
		}
	}
}

// TestAddAfterJoin checks that no set can be added after a join.
func TestAddAfterJoin(t *testing.T) {
	s := NewSets(SetsOptions{})
	must.Do(t, s.Add([]uint64{1, 2, 3}))
	must.Get(s.Stars(t.Context(), 0.5, Options{}))(t)
	if s.Add([]uint64{1}) == nil {
		t.Error("a set was added after a join")
	}
}

// TestCounterBytes compares CounterBytes with the actual memory.
func TestCounterBytes(t *testing.T) {
	for _, bytes := range []int64{0, 1, leastLines * fewBytes, 1 << 15, 1<<20 - 1, 1 << 20, 5 << 20} {
		c := newCounts(bytes)
		want := int64(len(c.few)*8 + len(c.many)*4)
		if !c.direct() {
			want += int64(len(c.newParts().waiting) * 4)
		}
		if got := CounterBytes(bytes); got != want {
			t.Errorf("%d: %d bytes, want %d", bytes, got, want)
		}
	}
}

// TestLogarithm checks that ranks are monotonic, and distinct for small numbers.
func TestLogarithm(t *testing.T) {
	for n := uint32(1); n < 1<<20; n++ {
		if a, b := logarithm(n-1), logarithm(n); a > b || a == b && n <= 16 {
			t.Fatalf("%d after %d, of %d", b, a, n)
		}
	}
	for e := 20; e < 32; e++ {
		if a, b := logarithm(1<<e-1), logarithm(1<<e); a >= b {
			t.Errorf("%d after %d, of 1<<%d", b, a, e)
		}
	}
	if logarithm(math.MaxUint32-1) > logarithm(math.MaxUint32) {
		t.Error("the largest number has a lower rank than others")
	}
}

// TestAppendLeast compares appendLeast with sorting, for keys of few and of many ranks.
func TestAppendLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for n := range 300 {
		keys, ranks := make([]uint64, n), 1+r.IntN(256)
		for i := range keys {
			keys[i] = r.Uint64N(1 << hashBits)
		}
		slices.Sort(keys)
		for i := range keys {
			keys[i] |= uint64(r.IntN(ranks)) << hashBits
		}
		want, most := slices.Sorted(slices.Values(keys)), r.IntN(n+1)
		if got := appendLeast([]uint64{1}, keys, most); got[0] != 1 || !slices.Equal(got[1:], want[:most]) {
			t.Fatalf("%d of %d keys: %x, want %x", most, n, got[1:], want[:most])
		}
	}
}
