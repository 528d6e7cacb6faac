package worddiff

import (
	"slices"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/token"
)

// A difference of two texts recurs if the same words stand against the same words in Recurs pairs of
// texts, or if each of its words differs in WordRecurs pairs. It has at most MostRecurring words; longer
// ones do not recur. The values agree best with the judgements of a reader, on catalogues and on texts.
const (
	Recurs        = 3
	WordRecurs    = 5
	MostRecurring = 12
)

// A Bag is the hashes of the words of a text, ascending; a word that occurs n times is in it n times.
type Bag []uint64

// Shingles implements token.Sink.
func (b *Bag) Shingles(words []uint64) { *b = append(*b, words...) }

// A Bagger makes bags. It is not safe for concurrent use.
type Bagger struct {
	ready func([]byte) []byte // prepares a text; nil if texts need no preparation
	split *token.Shingler
	words Bag
}

// NewBagger returns a Bagger for texts that are split into words as a canonical Spec says.
func NewBagger(of features.Spec) *Bagger {
	return &Bagger{ready: of.Normalizer(), split: token.New(token.Config{Shingle: 1, Symbols: of.Symbols, Version: of.Version()})}
}

// Bag returns the bag of a text. It is valid until the next call.
func (x *Bagger) Bag(text string) Bag {
	b := []byte(text)
	if x.ready != nil {
		b = x.ready(b)
	}
	x.words = x.words[:0]
	x.split.Bytes(b, &x.words)
	slices.Sort(x.words)
	return x.words
}

// AppendDifference appends to lacks the words that only a has, and to adds those that only b has: as
// often as one has them more often than the other.
func AppendDifference(lacks, adds, a, b Bag) (Bag, Bag) {
	for len(a) > 0 && len(b) > 0 {
		switch v, w := a[0], b[0]; {
		case v < w:
			lacks, a = append(lacks, v), a[1:]
		case v > w:
			adds, b = append(adds, w), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(lacks, a...), append(adds, b...)
}

// Key returns a hash of a difference, the same in both directions.
func Key(lacks, adds Bag) uint64 {
	var keys [2]uint64
	for i, words := range [2]Bag{lacks, adds} {
		for _, w := range words {
			keys[i] = token.Mix(keys[i]*3 + w)
		}
	}
	return token.Mix(min(keys[0], keys[1])) + max(keys[0], keys[1])
}
