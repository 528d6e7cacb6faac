package selfjoin

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/simdb/simdb/internal/base"
)

// Costs of joins of wide fingerprints in nanoseconds, like those of plan.go.
const (
	costPass   = 1e5 // a pass of any size
	costValue  = 40  // sorting the value of a fingerprint, for a pass
	costVerify = 30  // a pair of fingerprints that a pass finds
	costWord   = 2   // a word of a pair of fingerprints compared in the cache

	costSteps = 5e4 // choosing passes, without the dynamic programs
	costState = 1   // trying a radius in a dynamic program
)

// step is a pass for a word: it joins the values within radius bits of each other.
type step struct{ word, radius int }

// steps chooses passes over words for some fingerprints. ok is false if comparing all pairs is
// best.
//
// A pair that no pass finds differs in more bits of each word than its radius, and in at least
// j.least bits: the radii are such that these add up to more than k. The cost of a radius is
// estimated from a sample, and a dynamic program over the words finds the cheapest total.
//
// Words with the same value in many fingerprints come last, when the radii of the other words
// leave the least to search for.
func (j *wide) steps(some []uint32, words []int) (chosen []step, ok bool) {
	n := float64(len(some))
	compared := j.costWord * n * n / 2 * float64(min(len(words), j.k/32+1)+1) // uniform words differ in 32 bits
	if compared < costSteps+costState*float64(len(words)*len(words)*(j.k+1)*min(j.k, base.FingerprintBits)) {
		return nil, false
	}
	costs := j.wordCosts(some, words)
	slices.SortStableFunc(costs, func(a, b wordCost) int { return cmp.Compare(a.same, b.same) })
	j.addSame(n, costs)
	chosen, cost := j.cheapest(costs)
	return chosen, cost < compared
}

// addSame adds the cost of fingerprints, n in all, with the same value of a word: they are joined
// by their other words, or compared.
func (j *wide) addSame(n float64, costs []wordCost) {
	add := make([]float64, len(costs))
	for at, c := range costs {
		if add[at] = costVerify * n * n / 2 * c.same; add[at] > costValue*n {
			_, others := j.cheapest(slices.Delete(slices.Clone(costs), at, at+1))
			add[at] = min(add[at], math.Sqrt(c.same)*others) // assuming a single such value, this many fingerprints have it
		}
	}
	for at, c := range costs {
		for r := range c.within {
			c.within[r] += add[at]
		}
	}
}

// wordCost holds the estimated costs of passes for a word.
type wordCost struct {
	word   int
	same   float64   // the share of pairs with the same value
	within []float64 // by radius
}

// wordCosts estimates the costs of passes for each word, except for fingerprints with the same
// value.
func (j *wide) wordCosts(some []uint32, words []int) (costs []wordCost) {
	n, size := float64(len(some)), min(4*int(math.Sqrt(float64(len(some)))), len(some), 1<<12)
	r := rand.New(rand.NewPCG(uint64(len(some)), uint64(len(words))))
	numbers := make([]uint32, size)
	for i := range numbers {
		numbers[i] = some[r.IntN(len(some))]
	}
	sample, share := j.fps.pick(numbers), 2/float64(size)/float64(size-1)
	for _, w := range words {
		var apart [base.FingerprintBits + 1]int // pairs of the sample, by distance
		for i, x := range sample[w] {
			for _, y := range sample[w][:i] {
				apart[base.Distance(x, y)]++
			}
		}
		c, g, found := wordCost{word: w, same: float64(apart[0]) * share}, group{keys: sample[w]}, 0
		values := n * (1 - math.Sqrt(c.same))
		for r := range min(j.k, base.FingerprintBits) + 1 {
			if r > 0 {
				found += apart[r]
			}
			join := j.plan.plan(g, max(int(values), 1), g.vary(), r)
			c.within = append(c.within, costPass+n*costValue+values*float64(join.cost)+costVerify*n*n/2*share*float64(found))
		}
		costs = append(costs, c)
	}
	return costs
}

// cheapest returns the cheapest passes, and their cost.
func (j *wide) cheapest(costs []wordCost) (chosen []step, cost float64) {
	// least[at][n] is the least cost of passes for the words from at on that find all pairs with
	// fewer than n different bits in them, and radius[at][n] is the radius of the first of these
	// passes.
	least, radius := make([][]float64, len(costs)+1), make([][]int, len(costs))
	last := make([]float64, j.k+2)
	for n := 1; n <= j.k+1; n++ {
		last[n] = math.Inf(1)
	}
	least[len(costs)] = last
	for at := len(costs) - 1; at >= 0; at-- {
		least[at], radius[at] = make([]float64, j.k+2), make([]int, j.k+2)
		for n := range j.k + 2 {
			least[at][n], radius[at][n] = least[at+1][j.left(n, costs[at].word, -1)], -1
			for r := j.least[costs[at].word]; r < len(costs[at].within); r++ {
				if c := costs[at].within[r] + least[at+1][j.left(n, costs[at].word, r)]; c < least[at][n] {
					least[at][n], radius[at][n] = c, r
				}
			}
		}
	}
	n := j.k + 1
	for at, c := range costs {
		r := radius[at][n]
		if r >= 0 {
			chosen = append(chosen, step{c.word, r})
		}
		n = j.left(n, c.word, r)
	}
	return chosen, least[0][j.k+1]
}

// left returns how many of n bits remain for the other words after a word with a radius.
func (j *wide) left(n, word, radius int) int {
	if radius == base.FingerprintBits {
		return 0
	}
	return max(n-max(radius+1, j.least[word]), 0)
}
