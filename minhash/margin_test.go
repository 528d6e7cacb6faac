package minhash

import (
	"fmt"
	"math"
	"testing"
)

// rejected returns the exact probability that the estimate from two sketches of size n rejects two
// sets with so many elements that are only in one, only in the other, and in both. It
// follows the union in the order of hashes, in which every element is equally likely to be next,
// until one sketch is full.
func rejected(n int, onlyA, onlyB, both int, t float64) (sum float64) {
	least := LeastScore(n, t)
	type state struct{ a, b, c int }
	now := map[state]float64{{}: 1}
	for len(now) > 0 {
		next := map[state]float64{}
		for s, p := range now {
			if k := s.a + s.b + s.c; s.a+s.c == n || s.b+s.c == n {
				if score := ratio(s.c, k, false); s.c == 0 || score.Score < least || !score.MayReach(t) {
					sum += p
				}
				continue
			}
			left := float64(onlyA + onlyB + both - s.a - s.b - s.c)
			add := func(of int, to state) {
				if of > 0 {
					next[to] += p * float64(of) / left
				}
			}
			add(onlyA-s.a, state{s.a + 1, s.b, s.c})
			add(onlyB-s.b, state{s.a, s.b + 1, s.c})
			add(both-s.c, state{s.a, s.b, s.c + 1})
		}
		now = next
	}
	return sum
}

// TestMiss computes the probability that pairs of exactly the threshold are rejected: at most Miss.
// Pairs of a much lower similarity are rejected almost always.
func TestMiss(t *testing.T) {
	for _, n := range []int{24, 32, 48} {
		for _, at := range []float64{0.5, 0.65, 0.8, 0.95} {
			if math.Pow(1-at, float64(n)) > Miss/4 {
				continue // no common hash
			}
			for _, union := range []int{120, 300, 1 << 20} {
				both := int(math.Ceil(at * float64(union)))
				for _, share := range []float64{0, 0.1, 0.5} {
					onlyA := int(share * float64(union-both))
					if p := rejected(n, onlyA, union-both-onlyA, both, at); p > Miss {
						t.Errorf("n = %d, t = %v, %d of %d common, %d only in one: %v are rejected", n, at, both, union, onlyA, p)
					}
				}
			}
			low := at / 10
			if n < 32 {
				continue
			}
			if p := rejected(n, 5000-int(5000*low), 5000-int(5000*low), int(10000*low), at); p < 0.7 {
				t.Errorf("n = %d, t = %v: only %v of pairs with a similarity of %v are rejected", n, at, p, low)
			}
		}
	}
	// Below about 1 - Miss^(1/n), sketches without a common hash decide.
	if p := rejected(32, 350_000, 350_000, 300_000, 0.3); p > 2*math.Pow(0.7, 32) {
		t.Errorf("at 0.3, %v are rejected", p)
	}
}

func ExampleScore_MayReach() {
	estimate := Score{Score: 0.5, Error: math.Sqrt(0.25 / 44)} // 22 of 44
	fmt.Println(estimate.MayReach(0.8), estimate.MayReach(0.95))
	fmt.Printf("%.2f\n", LeastScore(32, 0.8))
	// Output:
	// true false
	// 0.22
}

// TestMayReachExact tests scores that are certain, and thresholds at the ends.
func TestMayReachExact(t *testing.T) {
	for _, c := range []struct {
		s    Score
		t    float64
		want bool
	}{
		{Score{Score: 0.79, Exact: true}, 0.8, false}, {Score{Score: 0.8, Exact: true}, 0.8, true},
		{Score{Score: 1}, 1, true}, {ratio(31, 33, false), 1, false}, {Score{}, 0.001, false},
		{ratio(1, 63, false), 0.01, true}, {ratio(1, 63, false), 0.5, false},
	} {
		if got := c.s.MayReach(c.t); got != c.want {
			t.Errorf("%+v may reach %v: %v", c.s, c.t, got)
		}
	}
	for n := 1; n < 5000; n = 2*n + 1 {
		last := 0.0
		for at := 0.01; at <= 1; at += 0.01 {
			s := LeastScore(n, at)
			if s <= 0 || s > at || s < last {
				t.Errorf("LeastScore(%d, %v) = %v after %v", n, at, s, last)
			}
			last = s
		}
	}
}
