package features

import (
	"slices"
	"unsafe"

	"github.com/simdb/simdb/internal/ordered"
)

// SetHasher computes sets of features of texts, as hashes. It serves one goroutine.
type SetHasher struct {
	walk        *Walker
	hashes, tmp []uint64
}

// NewSetHasher returns a SetHasher for features of k units.
func NewSetHasher(s Spec, k int, seed uint64) *SetHasher {
	return &SetHasher{walk: NewWalker(s, k, seed)}
}

// Features takes features of the text that is walked, as the copies that their weight stands for.
func (h *SetHasher) Features(hashes []uint64, weight int) {
	h.hashes = AppendReplicas(h.hashes, hashes, weight)
}

// Append appends the set of a text, ascending, to dst: what VERIFY compares in a database.
func (h *SetHasher) Append(dst []uint64, text string) []uint64 {
	h.hashes = h.hashes[:0]
	if _, enough := h.walk.Walk(unsafe.Slice(unsafe.StringData(text), len(text)), h); !enough { // only read
		return dst
	}
	h.tmp = slices.Grow(h.tmp[:0], len(h.hashes))[:len(h.hashes)]
	h.hashes, h.tmp = ordered.SortLeading(h.hashes, h.tmp)
	return append(dst, slices.Compact(h.hashes)...)
}
