package features

import (
	"iter"
	"math"
)

// A Weighted is a set of features with weights: their hashes, ascending, followed by their weights in
// the same order, as the bits of positive float64 numbers.
type Weighted []uint64

// Hashes returns the hashes of the features.
func (a Weighted) Hashes() []uint64 { return a[:len(a)/2] }

// Weight returns the weight of feature i.
func (a Weighted) Weight(i int) float64 { return math.Float64frombits(a[len(a)/2+i]) }

// Len, Less and Swap sort the features by their hashes: Weighted is a sort.Interface.
func (a Weighted) Len() int { return len(a) / 2 }

// Less reports whether the hash of feature i is less than that of feature k.
func (a Weighted) Less(i, k int) bool { return a[i] < a[k] }

// Swap swaps two features with their weights.
func (a Weighted) Swap(i, k int) {
	n := len(a) / 2
	a[i], a[k], a[n+i], a[n+k] = a[k], a[i], a[n+k], a[n+i]
}

// Total returns the sum of the weights.
func (a Weighted) Total() float64 {
	var s sum
	for i := range len(a) / 2 {
		s.add(a.Weight(i))
	}
	return s.total()
}

// JaccardAtLeast returns the weighted Jaccard similarity of two sets: the sum of the smaller weights
// of all features divided by the sum of the larger ones, where the weight of a feature that a set
// does not have is 0. ok reports whether it is at least t, which must be positive; if not, the score
// is 0. The sums are compensated and in the order of hashes, so the score does not depend on the
// order of the sets.
func (a Weighted) JaccardAtLeast(b Weighted, t float64) (score float64, ok bool) {
	// The sums of smaller and larger weights together are the sum of all, so the difference of the
	// sums, which only grows, is at most a share of this sum. Rounding never decides.
	spare := (a.Total() + b.Total()) * ((1-t)/(1+t) + 1e-9)
	var least, most sum
	for x, y := range a.weights(b) {
		least.add(min(x, y))
		most.add(max(x, y))
		if spare -= math.Abs(x - y); spare < 0 {
			return 0, false
		}
	}
	if score = least.total() / most.total(); !(score >= t) { // NaN for empty sets
		return 0, false
	}
	return score, true
}

// common returns the sum of the smaller weights.
func (a Weighted) common(b Weighted) float64 {
	var least sum
	for x, y := range a.weights(b) {
		least.add(min(x, y))
	}
	return least.total()
}

// weights yields the weights of each feature of two sets, 0 where it is not in one.
func (a Weighted) weights(b Weighted) iter.Seq2[float64, float64] {
	return func(yield func(float64, float64) bool) {
		i, k, n, m := 0, 0, len(a)/2, len(b)/2
		for going := true; going && (i < n || k < m); {
			switch {
			case k == m || i < n && a[i] < b[k]:
				going = yield(a.Weight(i), 0)
				i++
			case i == n || b[k] < a[i]:
				going = yield(0, b.Weight(k))
				k++
			default:
				going = yield(a.Weight(i), b.Weight(k))
				i, k = i+1, k+1
			}
		}
	}
}

// sum is a compensated sum of numbers that are not negative (Neumaier, "Rundungsfehleranalyse einiger
// Verfahren zur Summation endlicher Summen", ZAMM 1974).
type sum struct{ rounded, lost float64 }

func (s *sum) add(x float64) {
	t := s.rounded + x
	if s.rounded >= x {
		s.lost += (s.rounded - t) + x
	} else {
		s.lost += (x - t) + s.rounded
	}
	s.rounded = t
}

func (s *sum) total() float64 { return s.rounded + s.lost }
