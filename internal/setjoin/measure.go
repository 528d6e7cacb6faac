package setjoin

import (
	"math"
	"math/bits"

	"github.com/simdb/simdb/internal/textsim"
)

// A Kind is what sets stand for, and what their similarity is.
type Kind uint8

// The kinds. Sets of Edits and Cosine stand for texts, and only find pairs that may match: a Judge
// compares these texts.
const (
	Jaccard Kind = iota // common elements as a share of those of both
	Edits               // textsim.Levenshtein: a set has the hashes of the q-grams of a text
	Cosine              // textsim.Cosine: a set has the words of a text, as WordElement makes them
)

// A Measure is the kind of sets.
type Measure struct {
	Kind Kind
	Q    int // Edits: the length of q-grams in runes, of EditGrams
}

// EditGrams returns the length of the q-grams by which texts are found that reach a threshold. An
// edit changes at most q of the q-grams of a text that begins with q-1 marks, as many as it has
// runes. So texts of n runes and less at distance d share n - q d at least, which must be positive
// for every n: q (1-t) < 1. Longer ones are rarer, but fewer of them are shared.
func EditGrams(t float64) int {
	const share, most = 0.7, 8
	return max(1, min(most, int(share/max(1-t, 1e-9))))
}

// leastEdits is the least threshold of Edits: below it rounding might make texts match that share
// nothing.
const leastEdits = 1e-6

// editNeed is threshold.need for texts of x and y runes.
func (t threshold) editNeed(x, y int) int {
	longer := max(x, y)
	d := textsim.MostEdits(longer, t.t)
	if longer-min(x, y) > d {
		return x + y + 1 // more than there are
	}
	return longer - t.q*d
}

// editLong returns how long the prefix of a text of n runes is. Partners of up to n runes need the
// same overlap. Of longer ones it rises with their length but where the number of edits does, by
// one after every 1/(1-t) > q runes at least: so the first of these needs the least.
func (t threshold) editLong(n int) int {
	d := textsim.MostEdits(n, t.t)
	least := n - t.q*d
	for y := n + 1; ; y++ {
		more := textsim.MostEdits(y, t.t)
		if y-n > more {
			break
		}
		if more > d {
			least = min(least, y-t.q*more)
			break
		}
	}
	return min(n-least+1, n)
}

// The element of a word has the leading bits of its hash, and below them how often it comes: the
// square of that in the direction of a text's vector, as a number of weightBits. Different words
// whose hashes have the same leading bits are one element with the sum of their squares. By the
// inequality of Cauchy and Schwarz they contribute no more to a scalar product than the root of
// the product of such sums.
const weightBits = 16

// WordElement returns the element of a word that comes a number of times, whose squares are given.
func WordElement(hash, squares uint64) uint64 {
	const mantissa = 10
	e := max(0, bits.Len64(squares)-mantissa)
	return hash>>weightBits<<weightBits | uint64(e)<<mantissa | squares>>e
}

// WordHash returns the part of a hash that tells elements apart.
func WordHash(hash uint64) uint64 { return hash >> weightBits << weightBits }

// squareOf returns the square in an element, at most a 512th too small.
func squareOf(element uint64) float64 {
	const mantissa = 10
	w := element & (1<<weightBits - 1)
	return math.Ldexp(float64(w&(1<<mantissa-1)), int(w>>mantissa))
}

// slack is how much the square of a cosine may be too small as it is computed from elements.
const slack = 0.01

// cosineCut returns the least product of two shares of squared lengths with which texts match.
func cosineCut(t float64) float64 { return t*t - slack }

// restOne is the whole squared length in prefix.rests.
const restOne = math.MaxUint32

// A weighted is a key with its square.
type weighted struct {
	key    uint64
	square float64
}

// mayBeCosine reports whether the texts of two sets may match: it is wrong for none that do.
func mayBeCosine(a, b []uint64, t float64) bool {
	dot, i, k := 0.0, 0, 0
	for i < len(a) && k < len(b) {
		switch x, y := a[i]>>weightBits, b[k]>>weightBits; {
		case x == y:
			dot += math.Sqrt(squareOf(a[i]) * squareOf(b[k]))
			i, k = i+1, k+1
		case x < y:
			i++
		default:
			k++
		}
	}
	return dot*dot >= cosineCut(t)*length(a)*length(b)
}

// length returns the squared length of a text's vector.
func length(set []uint64) (sum float64) {
	for _, e := range set {
		sum += squareOf(e)
	}
	return sum
}

// A Judge compares the texts of two sets. It serves one goroutine.
type Judge interface {
	// Compare returns the similarity of the texts of a and b, and false if it is below the
	// threshold. It is fastest while a stays the same.
	Compare(a, b int) (score float64, ok bool, err error)
}
