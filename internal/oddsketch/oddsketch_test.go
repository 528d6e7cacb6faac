package oddsketch

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/minhash"
)

// pair returns random sets of a and b elements, of which common are in both.
func pair(r *rand.Rand, a, b, common int) (x, y []uint64) {
	for i := range a + b - common {
		h := r.Uint64()
		if i < a {
			x = append(x, h)
		}
		if i >= a-common {
			y = append(y, h)
		}
	}
	return x, y
}

func jaccard(a, b, common int) float64 { return float64(common) / float64(a+b-common) }

// TestSimilar demands that no set that reaches the threshold is rejected, with as few common elements
// as possible.
func TestSimilar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		a := 1 + int(math.Exp(r.Float64()*8))
		at := []float64{0.05, 0.3, 0.5, 0.8, 0.9, 0.99, 1, r.Float64()}[r.IntN(8)]
		if at == 0 {
			continue
		}
		least, most := leastSize(a, at), min(mostSize(a, at), 5000)
		if least > most {
			continue
		}
		b := least + r.IntN(most-least+1)
		common := min(a, b)
		for common > 0 && jaccard(a, b, common-1) >= at {
			common--
		}
		if jaccard(a, b, common) < at {
			continue
		}
		x, y := pair(r, a, b, common)
		s := Of(y)
		if n, ok := NewQuery(x, at).Differ(&s); !ok {
			t.Fatalf("sets of %d and %d elements, %d common, at %v: rejected, %d bits differ", a, b, common, at, n)
		}
	}
}

// TestRejects demands that most sets are rejected that are clearly less similar than the threshold.
func TestRejects(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, x := range []struct {
		size        int
		similarity  float64
		at, atLeast float64
	}{
		{50, 0.5, 0.8, 0.9}, {230, 0, 0.8, 0.99}, {230, 0.5, 0.8, 0.99}, {230, 0.6, 0.8, 0.9}, {390, 0.5, 0.8, 0.9},
		{1000, 0.4, 0.8, 0.85}, {3000, 0.4, 0.8, 0.85}, {3000, 0.3, 0.8, 0.99}, {230, 0.85, 0.95, 0.99}, {100000, 0.4, 0.9, 0.99}, {230, 0, 0.5, 0},
	} {
		rejected, n := 0, 200
		common := int(2 * float64(x.size) * x.similarity / (1 + x.similarity))
		for range n {
			a, b := pair(r, x.size, x.size, common)
			s := Of(b)
			if _, ok := NewQuery(a, x.at).Differ(&s); !ok {
				rejected++
			}
		}
		if share := float64(rejected) / float64(n); share < x.atLeast {
			t.Errorf("%d elements, similarity %v, at %v: rejected %v, want %v", x.size, x.similarity, x.at, share, x.atLeast)
		}
		if x.size > 20000 {
			continue
		}
		a, b := pair(r, x.size, 2*x.size, x.size/2)
		s := Of(b)
		if _, ok := NewQuery(a, 0.6).Differ(&s); ok {
			t.Errorf("%d elements: a set twice as large passes at 0.6", x.size)
		}
	}
}

// TestLimit compares limits with the exact tail of the binomial distribution, and demands that they
// are not much too high.
func TestLimit(t *testing.T) {
	for level := 1; level < levels; level++ {
		for _, n := range []int{1, 10, 50, 100, 500, 5000, 50000, 1 << 20} {
			limit, p := limitOf(n, level), (1-math.Exp(-2*float64(n)/float64(int(bins)<<level)))/2
			tail := func(more int) (sum float64) {
				for x := more + 1; x <= bins; x++ {
					lg := func(v int) float64 { l, _ := math.Lgamma(float64(v + 1)); return l }
					sum += math.Exp(lg(bins) - lg(x) - lg(bins-x) + float64(x)*math.Log(p) + float64(bins-x)*math.Log1p(-p))
				}
				return sum * math.E * math.Sqrt(float64(n))
			}
			if limit < n && tail(limit) > minhash.Miss {
				t.Errorf("%d elements at level %d: more than %d bits with a probability of up to %v", n, level, limit, tail(limit))
			}
			if limit < n && limit > 10 && tail(limit-5) < minhash.Miss {
				t.Errorf("%d elements at level %d: limit %d, but %d suffices", n, level, limit, limit-5)
			}
		}
	}
}

func TestCodes(t *testing.T) {
	for n := 1; n < 1<<21; n += 1 + n/1000 {
		if c := codeOf(n); c < 1 || ends[c] < n || ends[c-1] >= n {
			t.Fatalf("code %d of %d elements: %d to %d", c, n, ends[c-1], ends[c])
		}
	}
	if codeOf(0) != 0 || codeOf(math.MaxInt) != maxCode || levelOf(codeOf(394)) != 0 || levelOf(codeOf(395)) != 2 ||
		levelOf(codeOf(789)) != 2 || levelOf(codeOf(790)) != 3 || levelOf(maxCode) != levels-1 {
		t.Error(codeOf(0), codeOf(math.MaxInt), codeOf(394), codeOf(395), levelOf(codeOf(789)), levelOf(codeOf(790)))
	}
}

func TestUnknown(t *testing.T) {
	var none Sketch
	if q := NewQuery([]uint64{1, 2, 3}, 0.5); Of(nil) != none {
		t.Error(Of(nil))
	} else if _, ok := q.Differ(&none); !ok {
		t.Error("an unknown set is rejected")
	}
	some := Of([]uint64{1, 2, 3})
	if _, ok := NewQuery(nil, 0.5).Differ(&some); ok {
		t.Error("the empty set is similar to another")
	}
}
