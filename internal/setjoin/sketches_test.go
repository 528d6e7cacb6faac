package setjoin

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// sketchJudge compares sketches, and counts the comparisons.
type sketchJudge struct {
	all  []minhash.Sketch
	size int
	t    float64
	n    *atomic.Int64
}

func (j sketchJudge) Compare(a, b int) (float64, bool, error) {
	j.n.Add(1)
	s, ok := minhash.JaccardAtLeast(j.all[a], j.all[b], j.size, j.t)
	return s.Score, ok, nil
}

// addSketches returns the sets of sketches, and the options for joining them.
func addSketches(t *testing.T, all []minhash.Sketch, size int, at float64) (*Sets, Options, *atomic.Int64) {
	t.Helper()
	s, n := NewSets(SetsOptions{Measure: Measure{Kind: Sketches, N: size}}), new(atomic.Int64)
	for _, sketch := range all {
		must.Do(t, s.Add(AppendSketch(nil, sketch)))
	}
	return s, Options{Workers: 1, Judge: func() Judge { return sketchJudge{all, size, at, n} }}, n
}

// sketchCorpus returns n sketches: families with a few changes, or sketches of all sizes that
// overlap; some are equal, some empty.
func sketchCorpus(r *rand.Rand, n, size int) []minhash.Sketch {
	base := make([][]uint32, 1+r.IntN(2))
	for f := range base {
		for range size {
			base[f] = append(base[f], r.Uint32())
		}
	}
	all, crowd, change, fewer := make([]minhash.Sketch, n), r.IntN(2) == 0, r.Float64()/3, r.IntN(2)*r.IntN(size/4+1)
	for i := range all {
		var s []uint32
		switch kind := r.IntN(8); {
		case kind == 0 && r.IntN(4) == 0:
			continue
		case kind < 3 && i > 0:
			all[i] = all[r.IntN(i)]
			continue
		case crowd:
			s = slices.Clone(base[r.IntN(len(base))])
			for h := range s {
				if r.Float64() < change {
					s[h] = r.Uint32()
				}
			}
			for range r.IntN(fewer + 1) {
				s = slices.Delete(s, 0, 1)
			}
		case kind == 3: // not full, and overlaps a full one
			s = slices.Clone(base[0][:r.IntN(size)])
			for range r.IntN(size - len(s)) {
				s = append(s, r.Uint32())
			}
		default:
			if i > 0 && r.IntN(2) == 0 {
				s = slices.DeleteFunc(slices.Clone(all[r.IntN(i)]), func(uint32) bool { return r.Float64() < change })
			}
			for shift := r.UintN(10); r.IntN(size/4+2) > 0 && len(s) < 2*size; {
				s = append(s, r.Uint32()>>shift)
			}
		}
		slices.Sort(s)
		s = slices.Compact(s)
		all[i] = s[:min(len(s), size)]
	}
	return all
}

// TestSketches compares all joins of sketches with their definitions.
func TestSketches(t *testing.T) {
	for run := range exhaustive.Every(t, 4).Of(150) {
		r := rand.New(rand.NewPCG(5, uint64(run)))
		size := []int{1, 4, 16, 128, 128}[r.IntN(5)]
		all := sketchCorpus(r, r.IntN(500), size)
		at := []float64{0.05, 0.3, 0.5, 0.8, 1, 0.4 + r.Float64()/2}[r.IntN(6)]
		refused := r.IntN(2) * 7
		accept := func(a, b int) bool { return refused == 0 || (a+b)%refused != 0 }
		s, o, _ := addSketches(t, all, size, at)
		if o.Workers = 1 + r.IntN(4); refused > 0 {
			o.Accept = accept
		}
		if r.IntN(3) > 0 {
			o.window, o.least, o.Memory, o.crowd, o.loose = 1+r.IntN(300), 1, 1+r.Int64N(1<<16), 1+r.IntN(16), 1+r.IntN(1000)
		}
		checkSketches(t, all, size, at, s, o)
	}
}

// TestBestOfCrowd has sketches with about equal similarities to two keepers of a crowd.
func TestBestOfCrowd(t *testing.T) {
	exhaustive.Sequential(t)
	for seed := range exhaustive.Every(t, 5).Of(30) {
		bestOfCrowd(t, rand.New(rand.NewPCG(11, uint64(seed))))
	}
}

func bestOfCrowd(t *testing.T, r *rand.Rand) {
	const size, at = 64, 0.5
	random := func(int) []uint32 { return []uint32{r.Uint32()} }
	base := slices.Concat(mapped(size, random)...)
	keepers := mapped(40, func(i int) []uint32 {
		k := slices.Clone(base)
		for range size / 4 {
			k[r.IntN(size)] = ^r.Uint32() >> (i % 4)
		}
		return k[:size-i%8]
	})
	all := mapped(400, func(i int) minhash.Sketch {
		s := keepers[i%len(keepers)]
		if i >= len(keepers) {
			s = slices.Clone(s)
			other := keepers[r.IntN(len(keepers))]
			for h := range min(len(s), len(other)) {
				if r.IntN(2) == 0 {
					s[h] = other[h]
				}
			}
		}
		s = slices.Clone(s)
		slices.Sort(s)
		return s
	})
	s, o, _ := addSketches(t, all, size, at)
	o.crowd = 4
	checkSketches(t, all, size, at, s, o)
}

// mapped returns fn(0) to fn(n-1).
func mapped[T any](n int, fn func(i int) T) (all []T) {
	for i := range n {
		all = append(all, fn(i))
	}
	return all
}

// checkSketches compares all joins with their definitions.
func checkSketches(t *testing.T, all []minhash.Sketch, size int, at float64, s *Sets, o Options) {
	t.Helper()
	score := func(a, b int) (float64, bool) {
		if len(all[a]) == 0 || len(all[b]) == 0 || o.Accept != nil && !o.Accept(a, b) {
			return 0, false
		}
		m := minhash.Jaccard(all[a], all[b], size)
		return m.Score, m.Score >= at
	}
	type pair struct {
		A, B  uint32
		Score float64
	}
	var want, got []pair
	forest := selfjoin.NewForest(len(all))
	keeper, best := make([]uint32, len(all)), make([]float64, len(all))
	for b := range all {
		keeper[b] = uint32(b)
		for a := range b {
			m, ok := score(a, b)
			if !ok {
				continue
			}
			want = append(want, pair{uint32(a), uint32(b), m})
			forest.Union(uint32(a), uint32(b))
			if keeper[a] == uint32(a) && m > best[b] {
				keeper[b], best[b] = uint32(a), m
			}
		}
		if keeper[b] == uint32(b) {
			best[b] = 1
		}
	}
	stars, err := s.Stars(t.Context(), at, o)
	if err != nil || !slices.Equal(stars.Keeper, keeper) || !slices.Equal(stars.Score, best) {
		t.Fatalf("%d sketches of %d at %v: star clusters differ (%v)", len(all), size, at, err)
	}
	err = s.Pairs(t.Context(), at, o, func(a, b int, m float64) bool {
		got = append(got, pair{uint32(a), uint32(b), m})
		return true
	})
	slices.SortStableFunc(got, func(p, q pair) int { return int(p.B) - int(q.B) })
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d sketches of %d at %v: %d pairs, want %d (%v)", len(all), size, at, len(got), len(want), err)
	}
	joined := selfjoin.NewForest(len(all))
	if err := s.Components(t.Context(), at, o, joined); err != nil || !slices.Equal(joined.Labels(), forest.Labels()) {
		t.Fatalf("%d sketches of %d at %v: components differ (%v)", len(all), size, at, err)
	}
}

// TestCrowdOfSketches counts the comparisons for a crowd: they are linear in its size, not
// quadratic.
func TestCrowdOfSketches(t *testing.T) {
	exhaustive.Sequential(t)
	r := rand.New(rand.NewPCG(7, 8))
	base := make([]uint32, 128)
	for h := range base {
		base[h] = r.Uint32()
	}
	all := make([]minhash.Sketch, 6000)
	for i := range all {
		s := slices.Clone(base)
		for range 3 {
			s[r.IntN(len(s))] = r.Uint32()
		}
		slices.Sort(s)
		all[i] = s
	}
	const at = 0.7
	s, o, n := addSketches(t, all, len(base), at)
	must.Get(s.Stars(t.Context(), at, o))(t)
	if n.Load() > 4*int64(len(all)) {
		t.Errorf("star clusters of %d sketches took %d comparisons", len(all), n.Load())
	}
	n.Store(0)
	must.Do(t, s.Components(t.Context(), at, o, selfjoin.NewForest(len(all))))
	if n.Load() > 40*int64(len(all)) {
		t.Errorf("components of %d sketches took %d comparisons", len(all), n.Load())
	}
}
