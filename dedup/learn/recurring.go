package learn

import (
	"slices"

	"github.com/simdb/simdb/internal/token"
)

// A difference of two texts recurs if the same words stand against the same words in recurs pairs of
// texts, or if each of its words differs in wordRecurs pairs; differences of more than mostDiffer
// words do not recur. So says DIFFERS(RECURRING), which counts the pairs that the rest of its rule
// matches. The scores of recurring say for which thresholds a difference recurs.
const (
	recurs     = 3
	wordRecurs = 5
	mostDiffer = 12
)

// recurring holds the greatest scores of the pairs that have a difference, in descending order.
type recurring struct {
	pairs map[uint64]*[recurs]float32
	words map[uint64]*[wordRecurs]float32
}

// difference returns the words that only one of two texts has, given their words' ascending hashes;
// a word that occurs more often in one counts as often as that.
func difference(a, b []uint64) (lacks, adds []uint64) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			lacks, a = append(lacks, a[0]), a[1:]
		case a[0] > b[0]:
			adds, b = append(adds, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(lacks, a...), append(adds, b...)
}

// differenceKey returns a hash of a difference, the same in both directions.
func differenceKey(lacks, adds []uint64) uint64 {
	var keys [2]uint64
	for i, words := range [2][]uint64{lacks, adds} {
		for _, w := range words {
			keys[i] = token.Mix(keys[i]*3 + w)
		}
	}
	return token.Mix(min(keys[0], keys[1])) + max(keys[0], keys[1])
}

// add counts the difference of a pair with a score.
func (r *recurring) add(lacks, adds []uint64, score float32) {
	if n := len(lacks) + len(adds); n == 0 || n > mostDiffer {
		return
	}
	if r.pairs == nil {
		r.pairs, r.words = map[uint64]*[recurs]float32{}, map[uint64]*[wordRecurs]float32{}
	}
	key := differenceKey(lacks, adds)
	if r.pairs[key] == nil {
		r.pairs[key] = &[recurs]float32{}
	}
	insert(r.pairs[key][:], score)
	for _, words := range [2][]uint64{lacks, adds} {
		for _, w := range slices.Compact(slices.Clone(words)) {
			if r.words[w] == nil {
				r.words[w] = &[wordRecurs]float32{}
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
func (r *recurring) upTo(lacks, adds []uint64) float64 {
	if n := len(lacks) + len(adds); n == 0 || n > mostDiffer {
		return 0
	}
	pair := float32(0)
	if greatest := r.pairs[differenceKey(lacks, adds)]; greatest != nil {
		pair = greatest[recurs-1]
	}
	each := float32(1)
	for _, words := range [2][]uint64{lacks, adds} {
		for _, w := range words {
			score := float32(0)
			if greatest := r.words[w]; greatest != nil {
				score = greatest[wordRecurs-1]
			}
			each = min(each, score)
		}
	}
	return float64(max(pair, each))
}
