package minhash

import "math"

// Miss bounds the probability that the estimate of a pair of sets says that their similarity is
// less than t although it is t or more; see [Score.MayReach] and [LeastScore].
const Miss = 1e-9

// missAt returns the part of Miss that is for samples of k elements of the union. Samples of two
// sketches of size n have n to 2n elements, and the sum over these is less than Miss.
func missAt(k float64) float64 { return Miss / (2 * k) }

// MayReach reports whether the similarity of the sets of which s is an estimate may be t or more,
// 0 < t <= 1. If s is exact, it reports whether it is. Otherwise, if the similarity is t or more,
// MayReach and a score of at least [LeastScore] are wrong together with a probability of at most
// Miss, if (1-t)^n / t is less than half of Miss, as for n = 32 from t = 0.5 on; for a lower
// threshold, the probability that two sketches have no common hash, (1-t)^n, is added.
//
// The smallest k hashes of the union of two sets are a sample without replacement, with a
// hypergeometric number of common hashes. Far below its mean, its tail is smaller than that of the
// binomial distribution (Uhlmann, Metrika 10, 1966), which a geometric series bounds. Where the
// sample of two sketches ends depends on the sets, so the probabilities for all possible k are
// added.
func (s Score) MayReach(t float64) bool {
	if s.Exact || s.Score >= t {
		return s.Score >= t
	}
	if s.Score <= 0 || !(s.Error > 0) {
		return false
	}
	k := math.Round(s.Score * (1 - s.Score) / (s.Error * s.Error)) // inverse of ratio
	c := math.Round(s.Score * k)
	// The terms of the tail decrease by at least this factor.
	factor := c * (1 - t) / ((k - c + 1) * t)
	if factor >= 1 {
		return true
	}
	return logBinomial(c, k, t)-math.Log1p(-factor) > math.Log(missAt(k))
}

// logBinomial returns the logarithm of the probability of c successes in k trials with probability
// t < 1 each.
func logBinomial(c, k, t float64) float64 {
	factorial := func(n float64) float64 {
		l, _ := math.Lgamma(n + 1)
		return l
	}
	return factorial(k) - factorial(c) - factorial(k-c) + c*math.Log(t) + (k-c)*math.Log1p(-t)
}

// LeastScore returns the least score of two sketches of size n, at least one of which is full,
// whose sets may have a similarity of t or more by [Score.MayReach]. 0 < t <= 1. It is positive:
// two sketches without common hashes are never said to be similar.
//
// It solves exp(-n D) = missAt(n), where D is the divergence of Bernoulli distributions with the
// parameters s and t: by Chernoff's bound, the left side bounds the probability of a score of s or
// less from n elements, and larger samples have smaller ones.
func LeastScore(n int, t float64) float64 {
	if t >= 1 {
		return t
	}
	divergence := -math.Log(missAt(float64(n))) / float64(n)
	low, high := 0.0, t
	for range 30 {
		s := (low + high) / 2
		if s*math.Log(s/t)+(1-s)*math.Log((1-s)/(1-t)) > divergence {
			low = s
		} else {
			high = s
		}
	}
	return max(low, min(t, 0.5/float64(n))) // one common hash gives more than 0.5/n
}
