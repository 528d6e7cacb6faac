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

// noisy returns a score that is not the estimate: one that verifying could find, the same for equal
// sketches.
func noisy(all [][]uint32, size, i, j int) float64 {
	if slices.Equal(all[i], all[j]) {
		return 1
	}
	sum := uint32(0)
	for _, h := range all[i] {
		sum += h
	}
	for _, h := range all[j] {
		sum ^= h
	}
	return max(min(minhash.Jaccard(all[i], all[j], size).Score+float64(sum%64)/256-0.125, 0.999), 0)
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
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	clusters := 0
	for round := range rounds {
		size := []int{4, 16, 128}[rng.IntN(3)]
		make := testSketches
		if round%2 == 0 {
			make = crowdSketches
		}
		all := make(rng, rng.IntN(900), size)
		at := []float64{0.1, 0.3, 0.5, 0.65, 0.8, 0.9, 1}[rng.IntN(7)]
		verified := at
		o := StarOptions{Options: Options{Workers: 1 + rng.IntN(4)}}
		if rng.IntN(3) > 0 {
			o.Sets = setsOf(rng, all)
		}
		if rng.IntN(3) > 0 {
			o.window, o.blockPostings = 1+rng.IntN(300), 1+rng.IntN(20000)
		}
		refused := rng.Uint32N(2) * 7
		if o.Sets == nil && refused > 0 {
			o.Accept = func(i, j uint32, score minhash.Score) bool { return (i+j)%refused != 0 }
		}
		if rng.IntN(2) == 0 {
			at = max(at-0.1, 0.05)
			o.Least = verified
			o.Verify = func(pairs []Pair) error {
				for n, p := range pairs {
					pairs[n].Score = noisy(all, size, int(p.I), int(p.J))
				}
				return nil
			}
		}
		want := slowStars(len(all), func(i, j int) (float64, bool) {
			if len(all[i]) == 0 || len(all[j]) == 0 || o.Accept != nil && !o.Accept(uint32(i), uint32(j), minhash.Score{}) {
				return 0, false
			}
			score := minhash.Jaccard(all[i], all[j], size).Score
			if o.Verify != nil && score >= at {
				score = noisy(all, size, i, j)
				return score, score >= o.Least
			}
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
	verified := 0
	o := StarOptions{Least: 0.8, Verify: func(pairs []Pair) error {
		verified += len(pairs)
		for n, p := range pairs {
			pairs[n].Score = minhash.Jaccard(all[p.I], all[p.J], 128).Score
		}
		return nil
	}}
	if _, err := Stars(t.Context(), sketchesOf(all, 128), 0.7, o); err != nil {
		t.Fatal(err)
	}
	if verified > 4*len(all) {
		t.Errorf("%d pairs of %d documents were verified", verified, len(all))
	}
}

// TestStarsStop ends early: by an error and by the context.
func TestStarsStop(t *testing.T) {
	all := testSketches(rand.New(rand.NewPCG(9, 10)), 3000, 16)
	bad := errors.New("bad")
	for _, stop := range []int{1, 100, 2000} {
		n := 0
		ctx, cancel := context.WithCancel(t.Context())
		verify := func(pairs []Pair) error {
			if n += len(pairs); n < stop {
				return nil
			}
			if stop == 100 {
				cancel()
				return ctx.Err()
			}
			return bad
		}
		_, err := Stars(ctx, sketchesOf(all, 16), 0.2, StarOptions{Least: 0.3, Verify: verify, window: 50})
		if stop == 100 && !errors.Is(err, context.Canceled) || stop != 100 && !errors.Is(err, bad) {
			t.Errorf("stopped after %d pairs: %v", stop, err)
		}
		cancel()
	}
}
