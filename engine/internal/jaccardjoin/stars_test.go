package jaccardjoin

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/minhash"
)

// slowStars is what Stars does, by its definition: each sketch is compared with every keeper before
// it.
func slowStars(n int, match func(i, j int) (float64, bool)) (a Assignment) {
	for j := range n {
		keeper, best := j, 1.0
		for i := range j {
			if a.Keeper[i] != uint32(i) {
				continue
			}
			if score, ok := match(i, j); ok && (keeper == j || score > best) {
				keeper, best = i, score
			}
		}
		a.Keeper, a.Score = append(a.Keeper, uint32(keeper)), append(a.Score, best)
	}
	return a
}

// crowdSketches returns n sketches of which most are of a few families of near-equal ones; some are
// equal, some empty.
func crowdSketches(rng *rand.Rand, n, size int) [][]uint32 {
	base := make([][]uint32, 1+rng.IntN(4))
	for f := range base {
		for range size {
			base[f] = append(base[f], rng.Uint32())
		}
	}
	all := make([][]uint32, n)
	change := rng.Float64() / 3
	for i := range all {
		switch {
		case rng.IntN(40) == 0:
			continue
		case i > 0 && rng.IntN(3) == 0:
			all[i] = all[rng.IntN(i)]
			continue
		}
		s := slices.Clone(base[rng.IntN(len(base))])
		for h := range s {
			if rng.Float64() < change {
				s[h] = rng.Uint32()
			}
		}
		slices.Sort(s)
		all[i] = slices.Compact(s)
	}
	return all
}

// setsOf numbers equal sketches: most of them alike, some not.
func setsOf(rng *rand.Rand, all [][]uint32) []uint32 {
	sets := make([]uint32, len(all))
	for i := range all {
		sets[i] = uint32(i)
		for k := range i {
			if len(all[i]) > 0 && slices.Equal(all[i], all[k]) && rng.IntN(5) > 0 {
				sets[i] = sets[k]
				break
			}
		}
	}
	return sets
}

func checkStars(t *testing.T, all [][]uint32, size int, at float64, o StarOptions, want Assignment) {
	t.Helper()
	got, err := Stars(t.Context(), sketchesOf(all, size), at, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if got.Keeper[i] != want.Keeper[i] || got.Score[i] != want.Score[i] {
			t.Fatalf("%d sketches of %d, t = %v, %d a block, window %d, %d workers: sketch %d joins %d with %v, want %d with %v",
				len(all), size, at, o.blockPostings, o.window, o.Workers, i, got.Keeper[i], got.Score[i], want.Keeper[i], want.Score[i])
		}
	}
}

// TestStars compares star clusters with those by definition: of random and crowded sketches,
// estimated and verified, with and without sets, some pairs refused, and blocks and windows of many
// sizes.
func TestStars(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const rounds = 200
	clusters := 0
	for round := range rounds {
		size := []int{4, 16, 128}[rng.IntN(3)]
		make := testSketches
		if round%2 == 0 {
			make = crowdSketches
		}
		all := make(rng, rng.IntN(900), size)
		at := []float64{0.1, 0.3, 0.5, 0.65, 0.8, 0.9, 1}[rng.IntN(7)]
		o := StarOptions{Options: Options{Workers: 1 + rng.IntN(4)}}
		if rng.IntN(3) > 0 {
			o.Sets = setsOf(rng, all)
		}
		if rng.IntN(3) > 0 {
			o.window, o.blockPostings = 1+rng.IntN(300), 1+rng.IntN(20000)
		}
		refused := rng.Uint32N(2) * 7
		if o.Sets == nil && refused > 0 {
			o.Accept = func(i, j uint32) bool { return (i+j)%refused != 0 }
		}
		want := slowStars(len(all), func(i, j int) (float64, bool) {
			if len(all[i]) == 0 || len(all[j]) == 0 || o.Accept != nil && !o.Accept(uint32(i), uint32(j)) {
				return 0, false
			}
			score := minhash.Jaccard(all[i], all[j], size).Score
			return score, score >= at
		})
		checkStars(t, all, size, at, o, want)
		for i, k := range want.Keeper {
			if int(k) != i {
				clusters++
			}
		}
	}
	if clusters < rounds {
		t.Errorf("%d members in %d rounds", clusters, rounds)
	}
}

// TestStarsOfACrowd counts the comparisons that a crowd takes: they grow with it, not with its
// square.
func TestStarsOfACrowd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	base := make([]uint32, 128)
	for h := range base {
		base[h] = rng.Uint32()
	}
	all := make([][]uint32, 20000)
	for i := range all {
		s := slices.Clone(base)
		for range 3 {
			s[rng.IntN(len(s))] = rng.Uint32()
		}
		slices.Sort(s)
		all[i] = s
	}
	pairs := 0
	o := StarOptions{Options: Options{Workers: 1}, Accept: func(i, j uint32) bool { pairs++; return true }}
	if _, err := Stars(t.Context(), sketchesOf(all, 128), 0.7, o); err != nil {
		t.Fatal(err)
	}
	if pairs > 4*len(all) {
		t.Errorf("%d pairs of %d documents were found", pairs, len(all))
	}
}

// TestStarsStop ends early, by the context.
func TestStarsStop(t *testing.T) {
	all := testSketches(rand.New(rand.NewPCG(9, 10)), 3000, 16)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	o := StarOptions{Options: Options{Workers: 1}, window: 50, Accept: func(i, j uint32) bool {
		if n++; n == 100 {
			cancel()
		}
		return true
	}}
	if _, err := Stars(ctx, sketchesOf(all, 16), 0.2, o); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped after %d pairs: %v", n, err)
	}
}
