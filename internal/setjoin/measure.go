package setjoin

import (
	"math"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

// A Kind says what sets represent, and how their similarity is defined.
type Kind uint8

// The kinds. For all but Jaccard and Contained, joins only find pairs that may match: a Judge
// compares the documents of the sets.
const (
	Jaccard   Kind = iota // common elements as a share of the union
	Edits                 // textsim.Levenshtein: a set has the hashes of a text's runs (edits.go)
	Cosine                // textsim.Cosine: a set has the words of a text as WordElements
	Sketches              // minhash.Jaccard: a set has the hashes of a sketch, made by AppendSketch
	Contained             // common elements as a share of the later set, which is the smaller one,
	// as sets are processed by decreasing size
	Weighted // features.Weighted.JaccardAtLeast: a set has this layout
)

// A Measure is the kind of sets.
type Measure struct {
	Kind Kind
	Q    int // Edits: the length of runs in runes, from EditGrams
	N    int // Sketches: the number of hashes in a full sketch
}

// comparesSets reports whether the similarity depends on the number of common elements.
func (k Kind) comparesSets() bool { return k == Jaccard || k == Sketches || k == Contained }

// OfTexts reports whether a Judge compares the texts that sets represent.
func (k Kind) OfTexts() bool { return k == Edits || k == Cosine }

// needsElements reports whether comparing an item requires the elements of the other set.
func (k Kind) needsElements() bool { return k.comparesElements() || k == Cosine }

// comparesElements reports whether elements suffice to compare two sets; if not, a Judge does.
func (k Kind) comparesElements() bool { return k == Jaccard || k == Contained || k == Weighted }

// shares reports whether the rests of a prefix are shares of the sum of all weights.
func (k Kind) shares() bool { return k == Cosine || k == Weighted }

// Comparer returns a function that compares two sets: it returns their Jaccard similarity, or for
// Contained the share of the smaller set that the larger one has, and false if that is less than t.
func (m Measure) Comparer(t float64) func(a, b []uint64) (similarity float64, ok bool) {
	least := m.threshold(t)
	return func(a, b []uint64) (float64, bool) {
		if len(a) > len(b) {
			a, b = b, a
		}
		n := ordered.Common(a, b, least.need(len(a), len(b)))
		if n < 0 {
			return 0, false
		}
		return least.score(len(a), len(b), n), true
	}
}

// AppendSketch appends the elements of a sketch, whose hashes are ascending. These are small
// numbers, so the trailing bits of an element, which identify it, are mixed from the hash.
func AppendSketch(dst []uint64, sketch []uint32) []uint64 {
	for _, h := range sketch {
		dst = append(dst, uint64(h)<<32|uint64(h*0x9e3779b1))
	}
	return dst
}

// The element of a word has the leading bits of its hash, and below them its weight: the square
// of its component in the text's vector, as a number of weightBits. Different words whose hashes
// have the same leading bits are one element with the sum of their squares. By the Cauchy-Schwarz
// inequality, they contribute no more to a scalar product than the root of the product of such
// sums.
const weightBits = 16

// WordElement returns the element of a word; squares is the sum of its squared counts.
func WordElement(hash, squares uint64) uint64 {
	const mantissa = 10
	e := max(0, bits.Len64(squares)-mantissa)
	return hash>>weightBits<<weightBits | uint64(e)<<mantissa | squares>>e
}

// WordHash returns the part of a hash that identifies an element.
func WordHash(hash uint64) uint64 { return hash >> weightBits << weightBits }

// squareOf returns the square in an element; it may be too small by up to 1/512.
func squareOf(element uint64) float64 {
	const mantissa = 10
	w := element & (1<<weightBits - 1)
	return float64(w & (1<<mantissa - 1) << (w >> mantissa))
}

// slack bounds the error by which the squared cosine, as computed from elements, may be too small.
const slack = 0.01

// cosineCut returns the least product of two shares of squared lengths for a match.
func cosineCut(t float64) float64 { return t*t - slack }

// restOne represents the whole sum of weights in prefix.rests.
const restOne = math.MaxUint32

// A weighted is a key with its weight: a square for Cosine.
type weighted struct {
	key    uint64
	weight float64
}

// rounding is a share of a sum of weights that exceeds any error of the sum.
const rounding = 1e-9

// mayBeCosine reports whether the texts of two sets may match, given the product of their squared
// lengths. It is true for all matches.
func mayBeCosine(a, b []uint64, lengths, t float64) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	dot, i, k := 0.0, 0, 0
	for i < len(a) && k < len(b) {
		if left := b[k:]; len(left)/ordered.Lopsided > len(a)-i {
			at, _ := slices.BinarySearch(left, a[i]>>weightBits<<weightBits)
			if k += at; k == len(b) {
				break
			}
		}
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
	return dot*dot >= cosineCut(t)*lengths
}

// mostWords returns an upper bound of the number of words that are in only one of two matching
// texts, given the squared lengths of their vectors: each such word adds at least 1 to the
// squared distance.
func mostWords(x, y, t float64) int { return int((x+y)*(1+slack) - 2*t*math.Sqrt(x*y) + slack) }

// mayBeWeighted reports whether sets may match that share a key with these rests, and no earlier one.
// Let x and y be their sums of weights, and r and q the shares of the rests. The sum of the smaller
// weights is at most r x and q y, and at least t/(1+t) (x + y) if the sets match. For some ratio of x
// and y, both hold.
func mayBeWeighted(rest, restY uint32, t float64) bool {
	const up = 2 // rests are rounded down
	r := (float64(rest)+up)/restOne*(1+t)/t - 1
	q := (float64(restY)+up)/restOne*(1+t)/t - 1
	return r > 0 && q > 0 && r*q >= 1-rounding
}

// length returns the squared length of a text's vector.
func length(set []uint64) (sum float64) {
	for _, e := range set {
		sum += squareOf(e)
	}
	return sum
}
