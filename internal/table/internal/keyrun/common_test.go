package keyrun

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEachCommon compares EachCommon with a comparison of all pairs of positions.
func TestEachCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	shapes := map[string]func() uint64{
		"far apart":   r.Uint64,
		"near":        func() uint64 { return 1<<40 + r.Uint64N(20_000) },
		"often equal": func() uint64 { return 3 * r.Uint64N(8) },
		"at the ends": func() uint64 {
			return [...]uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1, r.Uint64()}[r.IntN(5)]
		},
		"in crowds": func() uint64 { return r.Uint64N(3)<<62 + r.Uint64N(3000) },
	}
	for name, shape := range shapes {
		for _, size := range [][2]int{{0, 10}, {10, 0}, {1, 1}, {600, 1}, {513, 2000}, {9000, 5000}, {4096, 100}} {
			if name == "often equal" || name == "at the ends" {
				size = [2]int{min(size[0], 900), min(size[1], 900)}
			}
			var runs [2]*Run
			var keys [2][]uint64
			for i, n := range size {
				for range n {
					keys[i] = append(keys[i], shape())
				}
				if i == 1 {
					keys[1] = append(keys[1], keys[0][:len(keys[0])/3]...)
				}
				slices.Sort(keys[i])
				runs[i] = mustOpenRun(t, keys[i])
			}
			t.Run(fmt.Sprint(name, size), func(t *testing.T) { checkCommon(t, runs, keys) })
		}
	}
}

func checkCommon(t *testing.T, runs [2]*Run, keys [2][]uint64) {
	want, got := map[[2]int]bool{}, map[[2]int]bool{}
	for i, key := range keys[0] {
		j, _ := slices.BinarySearch(keys[1], key)
		for ; j < len(keys[1]) && keys[1][j] == key; j++ {
			want[[2]int{i, j}] = true
		}
	}
	err := EachCommon(runs[0], runs[1], func(i, j int) error {
		if got[[2]int{i, j}] {
			return fmt.Errorf("positions %d and %d twice", i, j)
		}
		got[[2]int{i, j}] = true
		return nil
	})
	if err != nil || !maps.Equal(got, want) {
		t.Fatalf("%d common keys, %v, want %d", len(got), err, len(want))
	}
	stop := errors.New("stop")
	if err := EachCommon(runs[0], runs[1], func(int, int) error { return stop }); len(want) > 0 && err != stop {
		t.Fatalf("the error of the function is not returned: %v", err)
	}
}

// BenchmarkCommon measures the time per key for two runs without common keys: step by step, and
// with bitmaps.
func BenchmarkCommon(b *testing.B) {
	const n = 1 << 20
	for _, ratio := range []int{1, 2, 4, 8, 16, 64} {
		var runs [2]*Run
		for i, n := range []int{n / ratio, n} {
			r := rand.New(rand.NewPCG(4, uint64(i)))
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = r.Uint64() >> 26
			}
			slices.Sort(keys)
			runs[i] = mustOpenRun(b, keys)
		}
		perKey := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
		}
		b.Run(fmt.Sprint("bitmaps/1:", ratio), func(b *testing.B) {
			for b.Loop() {
				EachCommon(runs[0], runs[1], func(int, int) error { return nil })
			}
			perKey(b)
		})
	}
}
