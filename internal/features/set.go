package features

import (
	"bytes"
	"math"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/internal/ordered"
)

// SetHasher computes and compares the sets of features of texts. Only one goroutine may use it at a
// time.
type SetHasher struct {
	walk        *Walker
	real        bool // Params.Real
	hashes, tmp []uint64
	weights     []float64     // Real: of hashes
	pairs, swap ordered.Pairs // Real: to sort them
	last        []byte        // the last text given to LastSet
	lastSet     Hashes
}

// NewSetHasher returns a SetHasher for features of k units.
func NewSetHasher(s Spec, k int, seed uint64) *SetHasher {
	return Params{Features: s, Shingle: k, Seed: seed}.NewSetHasher()
}

// NewSetHasher returns a SetHasher for features with these parameters.
func (p Params) NewSetHasher() *SetHasher { return &SetHasher{walk: p.newWalker(), real: p.Real()} }

// Features adds features of the current text: for each, as many copies as its weight, or with
// Params.Real the feature and its weight.
func (h *SetHasher) Features(hashes []uint64, weight float64) {
	if !h.real {
		h.hashes = appendCopies(h.hashes, hashes, weight)
		return
	}
	h.hashes = append(h.hashes, hashes...)
	for range hashes {
		h.weights = append(h.weights, weight)
	}
}

// Set returns the set of a text. The caller owns it.
func (h *SetHasher) Set(text []byte) Hashes { return slices.Clone(h.Brief(text)) }

// Append appends the set of a text to dst.
func (h *SetHasher) Append(dst []uint64, text string) []uint64 {
	return append(dst, h.Brief(unsafe.Slice(unsafe.StringData(text), len(text)))...) // the bytes are only read
}

// Brief is Set, but its result is valid only until the next set is computed.
func (h *SetHasher) Brief(text []byte) Hashes {
	h.hashes, h.weights = h.hashes[:0], h.weights[:0]
	if _, enough := h.walk.Walk(text, h); !enough {
		return nil
	}
	if h.real {
		return h.weighted()
	}
	h.tmp = slices.Grow(h.tmp[:0], len(h.hashes))[:len(h.hashes)]
	h.hashes, h.tmp = ordered.SortLeading(h.hashes, h.tmp)
	return slices.Compact(h.hashes)
}

// weighted returns the features of the current text in the layout of Weighted.
func (h *SetHasher) weighted() Hashes {
	h.pairs.Keys, h.pairs.Vals = append(h.pairs.Keys[:0], h.hashes...), h.pairs.Vals[:0]
	for i := range h.hashes {
		h.pairs.Vals = append(h.pairs.Vals, uint32(i))
	}
	if len(h.swap.Keys) < len(h.hashes) {
		h.swap = ordered.MakePairs(2 * len(h.hashes))
	}
	sorted := ordered.SortPairs(h.pairs, ordered.Pairs{Keys: h.swap.Keys[:len(h.hashes)], Vals: h.swap.Vals[:len(h.hashes)]})
	h.hashes, h.tmp = h.hashes[:0], h.tmp[:0]
	for i, k := range sorted.Keys {
		if n := len(h.hashes); n == 0 || h.hashes[n-1] != k { // the first one has the largest weight
			h.hashes, h.tmp = append(h.hashes, k), append(h.tmp, math.Float64bits(h.weights[sorted.Vals[i]]))
		}
	}
	h.hashes = append(h.hashes, h.tmp...)
	return h.hashes
}

// Changed returns the foldings that have changed a text. Words never have case.
func (h *SetHasher) Changed() Folds { return h.walk.normal.changed | foldCase }

// LastSet is Set for a text that may equal the text of the previous call, because copies are often
// adjacent. The set is valid until the next call of LastSet.
func (h *SetHasher) LastSet(text []byte) Hashes {
	if h.lastSet == nil || !bytes.Equal(text, h.last) {
		h.last = append(h.last[:0], text...)
		h.lastSet = append(h.lastSet[:0], h.Brief(text)...)
	}
	return h.lastSet
}

// JaccardAtLeast returns the Jaccard similarity of two sets of this hasher, and whether it is at
// least t, which must be positive. It stops early if the sets cannot be that similar; the score is
// then 0. Empty sets have a similarity of 0.
func (h *SetHasher) JaccardAtLeast(a, b Hashes, t float64) (score float64, ok bool) {
	if h.real {
		return Weighted(a).JaccardAtLeast(Weighted(b), t)
	}
	return a.jaccardAtLeast(b, t)
}

// Jaccard returns the Jaccard similarity of two sets of this hasher.
func (h *SetHasher) Jaccard(a, b Hashes) float64 {
	score, _ := h.JaccardAtLeast(a, b, math.SmallestNonzeroFloat64)
	return score
}

// Contained returns the share of the weights of a that b has too, and the other way round; 0 for an
// empty set.
func (h *SetHasher) Contained(a, b Hashes) (aInB, bInA float64) {
	common, sizeA, sizeB := 0.0, float64(len(a)), float64(len(b))
	if h.real {
		common, sizeA, sizeB = Weighted(a).common(Weighted(b)), Weighted(a).Total(), Weighted(b).Total()
	} else {
		common = float64(ordered.Common(a, b, 0))
	}
	if common == 0 {
		return 0, 0
	}
	return common / sizeA, common / sizeB
}

// Hashes is the set of features of a text as ascending hashes, with as many copies of each as its
// weight; with Params.Real, it has the layout of Weighted. Where texts decide, these sets are compared.
type Hashes []uint64

// jaccardAtLeast is SetHasher.JaccardAtLeast for sets of copies: |a n b| / |a u b|.
func (a Hashes) jaccardAtLeast(b Hashes, t float64) (score float64, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	sum := len(a) + len(b)
	of := func(n int) float64 { return float64(n) / float64(sum-n) } // increases with n, even when rounded
	need := min(int(t/(1+t)*float64(sum)), min(len(a), len(b)))
	for need > 0 && of(need-1) >= t {
		need--
	}
	for ; of(need) < t; need++ {
		if need == min(len(a), len(b)) {
			return 0, false
		}
	}
	n := ordered.Common(a, b, need)
	if n < need {
		return 0, false
	}
	return of(n), true
}
