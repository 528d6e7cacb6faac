package selfjoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// columns returns the distinct fingerprints among some of w words.
func columns(w int, fps [][]uint64) Columns {
	slices.SortFunc(fps, slices.Compare)
	fps = slices.CompactFunc(fps, slices.Equal)
	c := make(Columns, w)
	for _, fp := range fps {
		for j := range c {
			c[j] = append(c[j], fp[j])
		}
	}
	return c
}

// wideFlip returns a copy of fp with n bits flipped, fewer if one is chosen twice.
func wideFlip(r *rand.Rand, fp []uint64, n int) []uint64 {
	fp = slices.Clone(fp)
	for range n {
		fp[r.IntN(len(fp))] ^= 1 << r.IntN(64)
	}
	return fp
}

func uniform(r *rand.Rand, w int) []uint64 {
	fp := make([]uint64, w)
	for j := range fp {
		fp[j] = r.Uint64()
	}
	return fp
}

// wideShapes are the kinds of sets of wide fingerprints that the tests use, by name: each
// function makes a fingerprint of w words, given those it has made before.
var wideShapes = map[string]func(r *rand.Rand, w int, made [][]uint64) []uint64{
	"uniform": func(r *rand.Rand, w int, _ [][]uint64) []uint64 { return uniform(r, w) },
	"copies": func(r *rand.Rand, w int, made [][]uint64) []uint64 {
		if len(made) > 0 && r.IntN(3) == 0 {
			return wideFlip(r, made[r.IntN(len(made))], 1+r.IntN(8*w))
		}
		return uniform(r, w)
	},
	"ball": func(r *rand.Rand, w int, made [][]uint64) []uint64 {
		return wideFlip(r, make([]uint64, w), r.IntN(6*w))
	},
	"one word constant": func(r *rand.Rand, w int, made [][]uint64) []uint64 {
		fp := uniform(r, w)
		if len(made) > 0 {
			fp = wideFlip(r, made[r.IntN(len(made))], r.IntN(40))
		}
		fp[1] = 5
		return fp
	},
	"one word varies": func(r *rand.Rand, w int, _ [][]uint64) []uint64 {
		fp := make([]uint64, w)
		fp[w/2] = r.Uint64() & 0xfff0ffff
		return fp
	},
	"few values of each word": func(r *rand.Rand, w int, _ [][]uint64) []uint64 {
		fp := make([]uint64, w)
		for j := range fp {
			fp[j] = hashMul * uint64(r.IntN(4))
		}
		return fp
	},
	"half of each word constant": func(r *rand.Rand, w int, made [][]uint64) []uint64 {
		if len(made) > 0 && r.IntN(3) == 0 {
			return wideFlip(r, made[r.IntN(len(made))], 1+r.IntN(8))
		}
		fp := uniform(r, w)
		for j := range fp {
			if r.IntN(2) == 0 {
				fp[j] = 0
			}
		}
		return fp
	},
	"dense": func(_ *rand.Rand, w int, made [][]uint64) []uint64 {
		fp := make([]uint64, w)
		fp[0], fp[w-1] = uint64(len(made))>>5, uint64(len(made))&31
		return fp
	},
}

func wideShape(name string, seed uint64, w, n int) Columns {
	r := rand.New(rand.NewPCG(seed, uint64(w)))
	var made [][]uint64
	for range n {
		made = append(made, wideShapes[name](r, w, made))
	}
	return columns(w, made)
}

// eachWideShape runs f for every kind of set, with fingerprints of 128, 256 and 1,024 bits.
func eachWideShape(t *testing.T, n int, f func(t *testing.T, fps Columns)) {
	step := 1
	if n > 100 {
		step = 3
	}
	names := slices.Sorted(maps.Keys(wideShapes))
	for i := range exhaustive.Some(t, step, len(names)) {
		name := names[i]
		for _, w := range []int{2, 4, 16} {
			if w == 16 && n > 1000 {
				continue // brute force is slow
			}
			t.Run(fmt.Sprintf("%s/%d/%d", name, 64*w, n), func(t *testing.T) { f(t, wideShape(name, uint64(n), w, n)) })
		}
	}
}

func wideBruteForce(fps Columns) (all []pair) {
	for i := range uint32(fps.Len()) {
		for j := i + 1; j < uint32(fps.Len()); j++ {
			all = append(all, pair{i, j, uint16(fps.Distance(i, j))})
		}
	}
	return all
}

// someRadii returns the small radii that matter, and some up to the width.
func someRadii(fps Columns) []int {
	width := 64 * len(fps)
	return []int{0, 1, 2, len(fps) - 1, 7, 31, width / 4, width/2 - 1, width}
}

// collectWide returns the pairs of a join where comparisons cost times as much.
func collectWide(t *testing.T, fps Columns, k, times int, o Options, marked []bool, label []uint32) (got []pair) {
	t.Helper()
	j := newWide(t.Context(), fps, k, o, marked, label, func(i, j uint32, d int) bool {
		got = append(got, pair{i, j, uint16(d)})
		return true
	})
	j.costWord *= float64(times)
	must.Do(t, j.run())
	return got
}

// TestWidePairs compares pairs of wide fingerprints with brute force: all pairs, pairs with a
// marked side, and pairs with different labels.
func TestWidePairs(t *testing.T) {
	for _, n := range []int{0, 1, 2, 40, 150} {
		eachWideShape(t, n, func(t *testing.T, fps Columns) {
			all, r := wideBruteForce(fps), rand.New(rand.NewPCG(uint64(n), 3))
			marked, label := make([]bool, fps.Len()), make([]uint32, fps.Len())
			for i := range marked {
				marked[i], label[i] = r.IntN(5) == 0, uint32(r.IntN(1+i/50))
			}
			for _, k := range someRadii(fps) {
				near, times := within(all, k), 1
				if k <= 31 {
					times = 30 // favours passes for words, which are slow to choose for a large k
				}
				got := collectWide(t, fps, k, times, Options{Workers: 3}, nil, nil)
				if !slices.Equal(got, collectWide(t, fps, k, times, Options{Workers: 1}, nil, nil)) {
					t.Fatalf("k = %d: the order depends on the number of workers", k)
				}
				comparePairs(t, k, got, near)
				comparePairs(t, k, collectWide(t, fps, k, times, Options{Workers: 1}, marked, nil), slices.DeleteFunc(slices.Clone(near), func(p pair) bool {
					return !marked[p.i] && !marked[p.j]
				}))
				comparePairs(t, k, collectWide(t, fps, k, times, Options{Workers: 1}, nil, label), slices.DeleteFunc(slices.Clone(near), func(p pair) bool {
					return label[p.i] == label[p.j]
				}))
			}
		})
	}
}

// TestWidePairsLarge is TestWidePairs for sets with too many pairs to store.
func TestWidePairsLarge(t *testing.T) {
	eachWideShape(t, 2000/exhaustive.Slower, func(t *testing.T, fps Columns) {
		r := rand.New(rand.NewPCG(8, 9))
		marked, label := make([]bool, fps.Len()), make([]uint32, fps.Len())
		for i := range marked {
			marked[i], label[i] = r.IntN(5) == 0, uint32(r.IntN(2))
		}
		for _, k := range []int{1, 3, 8, 31} {
			var got, want [3]digest
			for j := range uint32(fps.Len()) {
				for i := range j {
					d := fps.Distance(i, j)
					for c, wanted := range []bool{true, marked[i] || marked[j], label[i] != label[j]} {
						if d <= k && wanted {
							want[c].add(i, j, d)
						}
					}
				}
			}
			for c := range got {
				err := pairs(t.Context(), fps, k, Options{}, [3][]bool{1: marked}[c], [3][]uint32{2: label}[c], func(i, j uint32, d int) bool {
					got[c].add(i, j, d)
					return true
				})
				if err != nil || got[c] != want[c] {
					t.Fatalf("k = %d, %d: %d pairs, want %d; error %v", k, c, got[c].n, want[c].n, err)
				}
			}
		}
	})
}

// TestPassesFindPairsOnce checks that every choice of radii, at any cost, finds all pairs once.
func TestPassesFindPairsOnce(t *testing.T) {
	fps := wideShape("half of each word constant", 5, 4, 600/exhaustive.Slower)
	all := wideBruteForce(fps)
	some := make([]uint32, fps.Len())
	for i := range some {
		some[i] = uint32(i)
	}
	for _, c := range [][]int{{7, 7, 7, 7}, {31, -1, -1, -1}, {-1, -1, -1, 31}, {0, 0, 0, 28}, {10, -1, 0, 19}, {64, -1, -1, -1}} {
		var got []pair
		j := newWide(t.Context(), fps, 31, Options{}, nil, nil, func(x, y uint32, d int) bool {
			got = append(got, pair{x, y, uint16(d)})
			return true
		})
		for at, r := range c {
			if r < 0 {
				continue
			}
			must.Do(t, j.pass(some, []int{0, 1, 2, 3}, step{at, r}, nil))
			j.least[at] = r + 1
		}
		comparePairs(t, 31, got, within(all, 31))
	}
}

func TestWideComponents(t *testing.T) {
	eachWideShape(t, 200, func(t *testing.T, fps Columns) {
		all := wideBruteForce(fps)
		for _, k := range someRadii(fps) {
			f := NewForest(fps.Len())
			for _, p := range within(all, k) {
				f.Union(p.i, p.j)
			}
			for _, budget := range []int{1 << 30, 300, 20} {
				got, err := components(t.Context(), fps, Documents{}, k, Options{Workers: 2}, budget)
				if err != nil || !slices.Equal(got, f.Labels()) {
					t.Fatalf("k = %d, budget %d: components differ; error %v", k, budget, err)
				}
			}
		}
	})
}

func TestWideStars(t *testing.T) {
	eachWideShape(t, 200, func(t *testing.T, fps Columns) {
		r := rand.New(rand.NewPCG(5, 6))
		var order []uint32
		for i := range fps.Len() {
			for range 1 + max(0, r.IntN(8)-5) {
				order = append(order, uint32(i))
			}
		}
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		docs := Documents{Codes: order}
		for _, k := range someRadii(fps) {
			want := starsByDefinition(fps, docs, k, false)
			for _, budget := range []int{1 << 30, 3000, 50} {
				got, err := stars(t.Context(), fps, docs, k, Options{Workers: 2}, budget)
				if err != nil || !slices.Equal(got.Keeper, want.Keeper) || !slices.Equal(got.Distance, want.Distance) {
					t.Fatalf("k = %d, budget %d: stars differ; error %v", k, budget, err)
				}
			}
		}
	})
}

// TestWideComponentsOfCrowd has a crowd of 4,000 with 8 million pairs within 31 bits; connected
// pairs must not be visited.
func TestWideComponentsOfCrowd(t *testing.T) {
	fps := wideShape("ball", 1, 4, 4000)
	err := pairs(t.Context(), fps, 31, Options{}, nil, make([]uint32, fps.Len()), func(i, j uint32, _ int) bool {
		t.Errorf("%d and %d, which are connected, are a pair", i, j)
		return false
	})
	must.Do(t, err)
}

func TestWideStops(t *testing.T) {
	for _, name := range []string{"ball", "dense"} {
		fps := wideShape(name, 2, 4, 3000)
		for _, after := range []int{1, 2, 5000} {
			n := 0
			err := Pairs(t.Context(), fps, 60, Options{Workers: 3}, func(uint32, uint32, int) bool {
				n++
				return n < after
			})
			if err != nil || n != min(after, n) || n == 0 {
				t.Fatalf("%s: stopped after %d pairs, want %d; error %v", name, n, after, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := Pairs(ctx, fps, 60, Options{Workers: 3}, func(uint32, uint32, int) bool {
			n++
			cancel()
			return true
		})
		if !errors.Is(err, context.Canceled) || n > fps.Len() {
			t.Fatalf("%s, cancelled: %v after %d pairs", name, err, n)
		}
	}
}

func TestWideRefusals(t *testing.T) {
	for _, c := range []struct {
		fps Columns
		k   int
	}{{nil, 3}, {make(Columns, base.MaxWords+1), 3}, {Columns{{1}, {}}, 3}, {Columns{{1}, {1}}, 129}, {Columns{{1, 1}, {2, 1}}, 3}, {Columns{{1, 1}, {2, 2}}, 3}, {Columns{{2, 1}, {1, 2}}, 3}} {
		if err := Pairs(t.Context(), c.fps, c.k, Options{}, nil); err == nil {
			t.Errorf("%v within %d is accepted", c.fps, c.k)
		}
	}
}

func TestWideProgress(t *testing.T) {
	for _, name := range []string{"copies", "one word constant", "ball"} {
		for _, n := range []int{50, 5000} {
			fps, last, total := wideShape(name, 3, 4, n), int64(-1), int64(0)
			err := Pairs(t.Context(), fps, 31, Options{Progress: func(d, n int64) {
				if d < last || d > n || total != 0 && n != total {
					t.Fatalf("%s: %d of %d after %d of %d", name, d, n, last, total)
				}
				last, total = d, n
			}}, func(i, j uint32, d int) bool { return true })
			if err != nil || last != total || total == 0 {
				t.Fatalf("%s: ends at %d of %d, error %v", name, last, total, err)
			}
		}
	}
}

// TestImageHashes joins hashes of pictures, whose bits are far from uniform.
func TestImageHashes(t *testing.T) {
	fps := imageHashes(t)
	all := wideBruteForce(fps)
	for _, k := range []int{1, 8, 31, 60, 100} {
		near := within(all, k)
		if k >= 8 && len(near) == 0 {
			t.Fatal("no pairs: the test tests nothing")
		}
		comparePairs(t, k, collectWide(t, fps, k, 1, Options{}, nil, nil), near)
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(fps.Len())
	numbers := make([]uint32, len(order))
	for i, f := range order {
		numbers[i] = uint32(f)
	}
	want := starsByDefinition(fps, Documents{Codes: numbers}, 31, false)
	got, err := Stars(t.Context(), fps, Documents{Codes: numbers}, 31, Options{})
	if err != nil || !slices.Equal(got.Keeper, want.Keeper) || !slices.Equal(got.Distance, want.Distance) {
		t.Fatal(cmp.Or(err, errors.New("stars differ")))
	}
}

// imageHashes returns 256-bit dHashes of pictures of emoji.
func imageHashes(t *testing.T) Columns {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/dhash256.txt"))(t)
	var fps [][]uint64
	for code := range strings.FieldsSeq(string(text)) {
		fp := make([]uint64, 4)
		must.Get(base.ParseWords(fp, code, base.Hex))(t)
		fps = append(fps, fp)
	}
	return columns(4, fps)
}
