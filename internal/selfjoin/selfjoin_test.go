package selfjoin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/simdb/simdb/internal/exhaustive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// distinct sorts fps and removes duplicates.
func distinct(fps []uint64) []uint64 {
	slices.Sort(fps)
	return slices.Compact(fps)
}

// flip changes n bits of x chosen at random, fewer if one is chosen twice.
func flip(r *rand.Rand, x uint64, n int) uint64 {
	for range n {
		x ^= 1 << r.IntN(64)
	}
	return x
}

// shapes are the kinds of sets that the tests use, by name.
var shapes = map[string]func(r *rand.Rand, n int) []uint64{
	"uniform": func(r *rand.Rand, n int) (fps []uint64) {
		for range n {
			fps = append(fps, r.Uint64())
		}
		return fps
	},
	"copies": func(r *rand.Rand, n int) (fps []uint64) {
		for i := range n {
			x := r.Uint64()
			if i%3 == 0 && i > 0 {
				x = flip(r, fps[r.IntN(i)], 1+r.IntN(8))
			}
			fps = append(fps, x)
		}
		return fps
	},
	"clusters": func(r *rand.Rand, n int) (fps []uint64) {
		var centres []uint64
		for range max(1, n/200) {
			centres = append(centres, r.Uint64())
		}
		for range n {
			fps = append(fps, flip(r, centres[r.IntN(len(centres))], r.IntN(12)))
		}
		return fps
	},
	"one cluster": func(r *rand.Rand, n int) (fps []uint64) {
		x := r.Uint64()
		for range n {
			fps = append(fps, flip(r, x, r.IntN(5)))
		}
		return fps
	},
	"dense": func(_ *rand.Rand, n int) (fps []uint64) {
		for i := range n {
			fps = append(fps, uint64(i))
		}
		return fps
	},
	"constant low bits": func(r *rand.Rand, n int) (fps []uint64) {
		for range n {
			fps = append(fps, r.Uint64()&^0xffffff)
		}
		return fps
	},
	"constant middle, skewed top": func(r *rand.Rand, n int) (fps []uint64) {
		for range n {
			x := r.Uint64() & 0xfff00000000fffff
			if r.IntN(50) != 0 {
				x &= 0x00ffffffffffffff
			}
			fps = append(fps, x)
		}
		return fps
	},
	"few bits in every block": func(r *rand.Rand, n int) (fps []uint64) {
		for range n {
			fps = append(fps, r.Uint64()&0x1111111111111111)
		}
		return fps
	},
	"biased bits": func(r *rand.Rand, n int) (fps []uint64) {
		for range n {
			fps = append(fps, r.Uint64()&r.Uint64()&r.Uint64())
		}
		return fps
	},
	"extremes": func(r *rand.Rand, n int) (fps []uint64) {
		for i := range n {
			x := uint64(0)
			if i%2 == 0 {
				x = ^x
			}
			fps = append(fps, flip(r, x, r.IntN(4)))
		}
		return fps
	},
}

// eachShape runs f for every kind of set.
func eachShape(t *testing.T, n int, f func(t *testing.T, fps []uint64)) {
	step := 1
	if n > 100 {
		step = 3
	}
	names := slices.Sorted(maps.Keys(shapes))
	for i := range exhaustive.Some(t, step, len(names)) {
		name := names[i]
		t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
			f(t, distinct(shapes[name](rand.New(rand.NewPCG(uint64(n), 7)), n)))
		})
	}
}

// bruteForce is the oracle: it returns all pairs within k bits, sorted.
func bruteForce(fps []uint64, k int) []pair {
	var ps []pair
	for j := range fps {
		for i := range j {
			if d := bits.OnesCount64(fps[i] ^ fps[j]); d <= k {
				ps = append(ps, pair{uint32(i), uint32(j), uint16(d)})
			}
		}
	}
	sortPairs(ps)
	return ps
}

func sortPairs(ps []pair) {
	slices.SortFunc(ps, func(a, b pair) int {
		if a.i != b.i {
			return int(a.i) - int(b.i)
		}
		return int(a.j) - int(b.j)
	})
}

// collect returns the pairs in the order of emission.
func collect(t testing.TB, fps []uint64, k int, o Options) []pair {
	t.Helper()
	var ps []pair
	err := Pairs(context.Background(), Columns{fps}, k, o, func(i, j uint32, d int) bool {
		ps = append(ps, pair{i, j, uint16(d)})
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

func within(all []pair, k int) (ps []pair) {
	for _, p := range all {
		if int(p.distance) <= k {
			ps = append(ps, p)
		}
	}
	return ps
}

func comparePairs(t *testing.T, k int, got, want []pair) {
	t.Helper()
	sortPairs(got)
	if !slices.Equal(got, want) {
		t.Fatalf("k = %d: %d pairs, want %d", k, len(got), len(want))
	}
}

func TestPairsEveryK(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 17, 50, 150} {
		eachShape(t, n, func(t *testing.T, fps []uint64) {
			all := bruteForce(fps, 64)
			for k := range 65 {
				comparePairs(t, k, collect(t, fps, k, Options{Workers: 2}), within(all, k))
			}
		})
	}
}

// digest represents a set of pairs, in any order, if there are too many to store.
type digest struct{ n, sum uint64 }

func (d *digest) add(i, j uint32, distance int) {
	x := (uint64(i)<<32 | uint64(j)) + uint64(distance)*hashMul
	x = (x ^ x>>31) * 0xbf58476d1ce4e5b9
	d.n, d.sum = d.n+1, d.sum+(x^x>>29)
}

func TestPairsLarge(t *testing.T) {
	const n, maxK = 4000 / exhaustive.Slower, 12
	eachShape(t, n, func(t *testing.T, fps []uint64) {
		var want [maxK + 1]digest
		for j := range fps {
			for i := range j {
				d := bits.OnesCount64(fps[i] ^ fps[j])
				for k := d; k <= maxK; k++ {
					want[k].add(uint32(i), uint32(j), d)
				}
			}
		}
		for k := range maxK + 1 {
			var got digest
			err := Pairs(context.Background(), Columns{fps}, k, Options{}, func(i, j uint32, d int) bool {
				got.add(i, j, d)
				return true
			})
			if err != nil || got != want[k] {
				t.Fatalf("k = %d: %d pairs, want %d; error %v", k, got.n, want[k].n, err)
			}
		}
	})
}

func TestPairsLarger(t *testing.T) {
	for _, shape := range []string{"copies", "clusters", "constant middle, skewed top"} {
		fps := distinct(shapes[shape](rand.New(rand.NewPCG(1, 2)), 8000/exhaustive.Slower))
		all := bruteForce(fps, 6)
		for _, k := range []int{1, 3, 6} {
			comparePairs(t, k, collect(t, fps, k, Options{}), within(all, k))
		}
	}
}

func TestSameOrderForAnyNumberOfWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	sets := map[string][]uint64{
		"copies":     distinct(shapes["copies"](r, 200000)),
		"clusters":   distinct(shapes["clusters"](r, 100000)),
		"large node": distinct(shapes["constant middle, skewed top"](r, 70000)),
	}
	for name, fps := range sets {
		t.Run(name, func(t *testing.T) {
			want := collect(t, fps, 3, Options{Workers: 1})
			if len(want) == 0 {
				t.Fatal("no pairs: the test tests nothing")
			}
			for i := range exhaustive.Some(t, 3, 7) {
				workers := 2 + i
				if !slices.Equal(collect(t, fps, 3, Options{Workers: workers}), want) {
					t.Fatalf("%d workers find other pairs, or in another order, than one", workers)
				}
			}
		})
	}
}

func TestEmitStops(t *testing.T) {
	fps := distinct(shapes["dense"](nil, 50000))
	for _, after := range []int{1, 2, 5000, 100000} {
		n := 0
		err := Pairs(context.Background(), Columns{fps}, 3, Options{Workers: 3}, func(i, j uint32, d int) bool {
			n++
			return n < after
		})
		if err != nil || n != after {
			t.Fatalf("stopped after %d pairs, want %d; error %v", n, after, err)
		}
	}
}

func TestCancel(t *testing.T) {
	fps := distinct(shapes["dense"](nil, 50000))
	for _, k := range []int{3, 40} {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		err := Pairs(ctx, Columns{fps}, k, Options{Workers: 3}, func(i, j uint32, d int) bool {
			if n++; n == 10 {
				cancel()
			}
			return true
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("k = %d: error %v after %d pairs", k, err, n)
		}
		if err := Pairs(ctx, Columns{fps}, k, Options{}, nil); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		fps []uint64
		k   int
	}{{nil, -1}, {nil, 65}, {[]uint64{2, 1}, 3}, {[]uint64{1, 1}, 3}} {
		if err := Pairs(context.Background(), Columns{c.fps}, c.k, Options{}, nil); err == nil {
			t.Errorf("%v within %d is accepted", c.fps, c.k)
		}
	}
}

func TestProgress(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, fps := range map[string][]uint64{
		"split":   distinct(shapes["copies"](r, 100000)),
		"large":   distinct(shapes["constant middle, skewed top"](r, 100000)),
		"compare": distinct(shapes["uniform"](r, 5000)),
	} {
		for _, k := range []int{3, 30} {
			if k == 30 {
				fps = fps[:3000]
			}
			last, total := int64(-1), int64(0)
			err := Pairs(context.Background(), Columns{fps}, k, Options{Progress: func(d, n int64) {
				if d < last || d > n || total != 0 && n != total {
					t.Fatalf("%s: %d of %d after %d of %d", name, d, n, last, total)
				}
				last, total = d, n
			}}, func(i, j uint32, d int) bool { return true })
			if err != nil || last != total || total == 0 {
				t.Fatalf("%s, k = %d: ends at %d of %d, error %v", name, k, last, total, err)
			}
		}
	}
}
