package learn

import (
	"slices"

	"github.com/simdb/simdb/internal/worddiff"
)

// recurring holds the greatest scores of the pairs that have a difference, in descending order: they
// say for which thresholds a difference recurs. DIFFERS(RECURRING) counts the pairs that the rest of
// its rule matches.
type recurring struct {
	pairs map[uint64]*[worddiff.Recurs]float32
	words map[uint64]*[worddiff.WordRecurs]float32
}

// add counts the difference of a pair with a score.
func (r *recurring) add(lacks, adds worddiff.Bag, score float32) {
	if n := len(lacks) + len(adds); n == 0 || n > worddiff.MostRecurring {
		return
	}
	if r.pairs == nil {
		r.pairs, r.words = map[uint64]*[worddiff.Recurs]float32{}, map[uint64]*[worddiff.WordRecurs]float32{}
	}
	key := worddiff.Key(lacks, adds)
	if r.pairs[key] == nil {
		r.pairs[key] = &[worddiff.Recurs]float32{}
	}
	insert(r.pairs[key][:], score)
	for _, words := range [2]worddiff.Bag{lacks, adds} {
		for _, w := range slices.Compact(slices.Clone(words)) {
			if r.words[w] == nil {
				r.words[w] = &[worddiff.WordRecurs]float32{}
			}
			insert(r.words[w][:], score)
		}
	}
}

// insert inserts a score into the greatest ones.
func insert(greatest []float32, score float32) {
	for i, s := range greatest {
		if score > s {
			greatest[i], score = score, s
		}
	}
}

// upTo returns the greatest threshold at which a difference recurs; 0 if it does at none.
func (r *recurring) upTo(lacks, adds worddiff.Bag) float64 {
	if n := len(lacks) + len(adds); n == 0 || n > worddiff.MostRecurring {
		return 0
	}
	pair := float32(0)
	if greatest := r.pairs[worddiff.Key(lacks, adds)]; greatest != nil {
		pair = greatest[worddiff.Recurs-1]
	}
	each := float32(1)
	for _, words := range [2]worddiff.Bag{lacks, adds} {
		for _, w := range words {
			score := float32(0)
			if greatest := r.words[w]; greatest != nil {
				score = greatest[worddiff.WordRecurs-1]
			}
			each = min(each, score)
		}
	}
	return float64(max(pair, each))
}
