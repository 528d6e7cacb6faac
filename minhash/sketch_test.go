package minhash

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

func bottomOf(set []uint64, n int) Sketch {
	var s Sketch
	for _, h := range set {
		s = append(s, uint32(h>>32))
	}
	slices.Sort(s)
	s = slices.Compact(s)
	return s[:min(len(s), n)]
}

func TestBottomAgainstSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 5, 128, 1000, 20000} {
		b := NewBottom(n)
		for range 60 {
			count := r.IntN(1 << r.IntN(17))
			values := 1 + r.Uint64N(1<<r.IntN(40))
			all := make([]uint64, count)
			for i := range all {
				all[i] = r.Uint64N(values) * 0x9e3779b97f4a7c15
			}
			b.Reset(int64(r.IntN(2*count + 1)))
			give := func() {
				for rest := all; len(rest) > 0; {
					k := r.IntN(len(rest) + 1)
					b.Shingles(rest[:k])
					rest = rest[k:]
				}
			}
			give()
			got, ok := b.Sketch()
			want := bottomOf(all, n)
			if ok && !slices.Equal(got, want) || !ok && len(want) == len(got) && len(want) == n {
				t.Fatalf("sketch of %d of %d hashes: %d, ok %v; want %d", n, count, len(got), ok, len(want))
			}
			b.Reset(0)
			give()
			if got, ok = b.Sketch(); !ok || !slices.Equal(got, want) {
				t.Fatalf("sketch of %d of %d hashes without a limit: %d, ok %v; want %d", n, count, len(got), ok, len(want))
			}
		}
	}
}

// randomPair returns sets of the given sizes that share common hashes.
func randomPair(r *rand.Rand, sizeA, sizeB, common int) (a, b []uint64) {
	all := make([]uint64, sizeA+sizeB-common)
	for i := range all {
		all[i] = r.Uint64()
	}
	return all[:sizeA], all[sizeA-common:]
}

// refJaccard is the tau score by definition: common hashes up to tau, divided by all hashes up to
// tau.
func refJaccard(a, b Sketch, n int) (score float64, exact bool) {
	tau, exact := uint32(math.MaxUint32), true
	for _, s := range []Sketch{a, b} {
		if len(s) >= n {
			tau, exact = min(tau, s[len(s)-1]), false
		}
	}
	in := map[uint32]int{}
	for _, h := range append(a.Clone(), b...) {
		if h <= tau {
			in[h]++
		}
	}
	both := 0
	for _, c := range in {
		both += c - 1
	}
	return float64(both) / float64(len(in)), exact
}

func TestJaccardAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 6000 {
		n := 1 + r.IntN(64)
		sizeA, sizeB := 1+r.IntN(2*n), 1+r.IntN(2*n)
		x, y := randomPair(r, sizeA, sizeB, r.IntN(min(sizeA, sizeB)+1))
		a, b := bottomOf(x, n), bottomOf(y, n)
		want, exact := refJaccard(a, b, n)
		got := Jaccard(a, b, n)
		if got.Score != want || got.Exact != exact || exact && got.Error != 0 {
			t.Fatalf("Jaccard(%v, %v, %d) = %+v, want %v %v", a, b, n, got, want, exact)
		}
		threshold := 1 - r.Float64()
		if r.IntN(2) == 0 && want > 0 {
			threshold = want // exactly at the threshold
		}
		s, ok := JaccardAtLeast(a, b, n, threshold)
		if ok != (want >= threshold) || ok && s != got {
			t.Fatalf("JaccardAtLeast(%v, %v, %d, %v) = %+v, %v; want %+v", a, b, n, threshold, s, ok, got)
		}
		ba, bb := a.Bitmap(), b.Bitmap()
		if ok && (ba.Missing(&bb) > MaxMissing(len(a), threshold) || bb.Missing(&ba) > MaxMissing(len(b), threshold)) {
			t.Fatalf("the bitmaps reject %v and %v, of score %v, at %v", a, b, want, threshold)
		}
	}
}

func TestEmptySketches(t *testing.T) {
	for _, p := range [][2]Sketch{{nil, nil}, {nil, {1}}, {{1}, nil}} {
		if s := Jaccard(p[0], p[1], 4); s != (Score{Exact: true}) {
			t.Errorf("Jaccard(%v) = %+v", p, s)
		}
		if _, ok := JaccardAtLeast(p[0], p[1], 4, 0.1); ok {
			t.Errorf("JaccardAtLeast(%v)", p)
		}
		if c, d := Containment(p[0], p[1], 4); c.Score != 0 || d.Score != 0 {
			t.Errorf("Containment(%v) = %v, %v", p, c, d)
		}
		if SketchJaccard(p[0], p[1]) != 0 {
			t.Errorf("SketchJaccard(%v)", p)
		}
	}
}

func TestMergeIsSketchOfUnion(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 9))
		set := func() []uint64 {
			s := make([]uint64, r.IntN(30))
			for i := range s {
				s[i] = uint64(r.Uint32()>>r.IntN(30)) << 32
			}
			return s
		}
		a, b, n := set(), set(), 1+r.IntN(20)
		if r.IntN(2) == 0 {
			b = append(b, a...)
		}
		got := Merge(nil, bottomOf(a, n), bottomOf(b, n), n)
		if want := bottomOf(append(slices.Clone(a), b...), n); !slices.Equal(got, want) {
			t.Fatalf("Merge = %v, want %v", got, want)
		}
	}
}

// TestQuality simulates pairs of sets and compares the estimates with the true values.
func TestQuality(t *testing.T) {
	trials := exhaustive.Size(1500, 20000)
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		j, ratio, rmse float64
	}{{0.8, 1, 0.034}, {0.8, 1.2, 0.034}, {0.5, 1, 0.042}, {0.5, 1.7, 0.042}, {0.9, 1.05, 0.026}} {
		const n, size = 128, 1500
		sizeB := int(size * c.ratio)
		common := int(math.Round(c.j / (1 + c.j) * float64(size+sizeB)))
		truth := float64(common) / float64(size+sizeB-common)
		contained := float64(common) / size
		var bias, square, plain, passed, inA, errs float64
		for range trials {
			x, y := randomPair(r, size, sizeB, common)
			a, b := bottomOf(x, n), bottomOf(y, n)
			s := Jaccard(a, b, n)
			bias += s.Score - truth
			square += (s.Score - truth) * (s.Score - truth)
			errs += s.Error
			plain += SketchJaccard(a, b) - truth
			if s.Score >= c.j {
				passed++
			}
			aInB, _ := Containment(a, b, n)
			inA += aInB.Score - contained
		}
		f := float64(trials)
		rmse := math.Sqrt(square / f)
		t.Logf("J %.3f, sizes 1 : %.2f: bias %+.4f, RMSE %.4f, mean stated error %.4f, at least J %.2f; SketchJaccard bias %+.4f; Containment bias %+.4f",
			truth, c.ratio, bias/f, rmse, errs/f, passed/f, plain/f, inA/f)
		if limit := 0.003 + 2*c.rmse/math.Sqrt(f); math.Abs(bias/f) > limit || rmse > 1.06*c.rmse || math.Abs(inA/f) > limit {
			t.Errorf("J %.3f, sizes 1 : %.2f: bias %+.4f, RMSE %.4f, Containment %+.4f", truth, c.ratio, bias/f, rmse, inA/f)
		}
		if math.Abs(errs/f-rmse) > 0.1*rmse {
			t.Errorf("J %.3f: stated error %.4f, RMSE %.4f", truth, errs/f, rmse)
		}
	}
}
