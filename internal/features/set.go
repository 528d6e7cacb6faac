package features

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/internal/ordered"
)

// SetHasher makes the sets of features of texts. It serves one goroutine.
type SetHasher struct {
	walk        *Walker
	hashes, tmp []uint64
	last        []byte // the text of LastSet
	lastSet     Hashes
}

// NewSetHasher returns a SetHasher for features of k units.
func NewSetHasher(s Spec, k int, seed uint64) *SetHasher {
	return &SetHasher{walk: NewWalker(s, k, seed)}
}

// Features takes features of the text that is walked, as the copies that their weight stands for.
func (h *SetHasher) Features(hashes []uint64, weight int) {
	h.hashes = AppendReplicas(h.hashes, hashes, weight)
}

// Set returns the set of a text. The caller owns it.
func (h *SetHasher) Set(text []byte) Hashes { return slices.Clone(h.Brief(text)) }

// Append appends the set of a text to dst.
func (h *SetHasher) Append(dst []uint64, text string) []uint64 {
	return append(dst, h.Brief(unsafe.Slice(unsafe.StringData(text), len(text)))...) // only read
}

// Brief is Set for a set that is valid until the next one is made.
func (h *SetHasher) Brief(text []byte) Hashes {
	h.hashes = h.hashes[:0]
	if _, enough := h.walk.Walk(text, h); !enough {
		return nil
	}
	h.tmp = slices.Grow(h.tmp[:0], len(h.hashes))[:len(h.hashes)]
	h.hashes, h.tmp = ordered.SortLeading(h.hashes, h.tmp)
	return slices.Compact(h.hashes)
}

// LastSet is Set for a text that may be equal to that of the call before it, as copies lie side by
// side. The set is valid until the next call, whatever other sets are made.
func (h *SetHasher) LastSet(text []byte) Hashes {
	if h.lastSet == nil || !bytes.Equal(text, h.last) {
		h.last = append(h.last[:0], text...)
		h.lastSet = append(h.lastSet[:0], h.Brief(text)...)
	}
	return h.lastSet
}

// Hashes is the set of the features of a text, each as often as its weight says, as hashes that
// ascend: what VERIFY compares in a database.
type Hashes []uint64

// Jaccard returns |a n b| / |a u b|; 0 if one of them is empty.
func (a Hashes) Jaccard(b Hashes) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := ordered.Common(a, b, 0)
	return float64(n) / float64(len(a)+len(b)-n)
}

// JaccardAtLeast returns what Jaccard does, and whether that is t or more, t > 0. Sets that cannot
// be that similar are told before all of them has been compared; their score is 0.
func (a Hashes) JaccardAtLeast(b Hashes, t float64) (score float64, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	sum := len(a) + len(b)
	of := func(n int) float64 { return float64(n) / float64(sum-n) } // which rises with n, rounded too
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
