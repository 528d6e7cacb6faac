package features

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/internal/ordered"
)

// SetHasher computes the sets of features of texts. Only one goroutine may use it at a time.
type SetHasher struct {
	walk        *Walker
	hashes, tmp []uint64
	last        []byte // the last text given to LastSet
	lastSet     Hashes
}

// NewSetHasher returns a SetHasher for features of k units.
func NewSetHasher(s Spec, k int, seed uint64) *SetHasher {
	return &SetHasher{walk: NewWalker(s, k, seed)}
}

// Features adds features of the current text: for each, as many copies as its weight.
func (h *SetHasher) Features(hashes []uint64, weight int) {
	h.hashes = AppendReplicas(h.hashes, hashes, weight)
}

// Set returns the set of a text. The caller owns it.
func (h *SetHasher) Set(text []byte) Hashes { return slices.Clone(h.Brief(text)) }

// Append appends the set of a text to dst.
func (h *SetHasher) Append(dst []uint64, text string) []uint64 {
	return append(dst, h.Brief(unsafe.Slice(unsafe.StringData(text), len(text)))...) // the bytes are only read
}

// Brief is Set, but its result is valid only until the next set is computed.
func (h *SetHasher) Brief(text []byte) Hashes {
	h.hashes = h.hashes[:0]
	if _, enough := h.walk.Walk(text, h); !enough {
		return nil
	}
	h.tmp = slices.Grow(h.tmp[:0], len(h.hashes))[:len(h.hashes)]
	h.hashes, h.tmp = ordered.SortLeading(h.hashes, h.tmp)
	return slices.Compact(h.hashes)
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

// Hashes is the set of features of a text, with as many copies of each as its weight, as ascending
// hashes. VERIFY compares these sets in a database.
type Hashes []uint64

// Jaccard returns |a n b| / |a u b|, or 0 if a or b is empty.
func (a Hashes) Jaccard(b Hashes) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := ordered.Common(a, b, 0)
	return float64(n) / float64(len(a)+len(b)-n)
}

// JaccardAtLeast returns the result of Jaccard, and whether it is at least t, which must be
// positive. It stops early if the sets cannot be that similar; the score is then 0.
func (a Hashes) JaccardAtLeast(b Hashes, t float64) (score float64, ok bool) {
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
