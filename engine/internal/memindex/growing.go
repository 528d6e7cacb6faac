package memindex

import (
	"sync"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/textsim"
)

// GrowingTexts holds the signatures of the documents of a memtable, which searches add as they need
// them. The zero value is ready to use; any number of goroutines may use it.
type GrowingTexts struct {
	mu         sync.Mutex
	signer     *textsim.Signer
	signatures []textsim.Signature // of the first documents, in order of writing
}

// First returns the signatures of the first n documents, calling text for their texts, which have
// features of a spec that is always the same. The caller must not change them.
func (g *GrowingTexts) First(of features.Spec, n int, text func(i int) []byte) []textsim.Signature {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.signer == nil && n > 0 {
		g.signer = textsim.NewSigner(of)
	}
	for i := len(g.signatures); i < n; i++ {
		g.signatures = append(g.signatures, g.signer.Sign(text(i)))
	}
	return g.signatures[:n]
}

// SimilarByEdit appends to dst the indexes of the signatures whose texts may be similar by edit
// distance.
func SimilarByEdit(dst []uint32, signatures []textsim.Signature, f *textsim.EditFilter) []uint32 {
	bounds := make(map[uint32]textsim.EditBound)
	last, bound := uint32(0), textsim.EditBound{} // no relevant text has zero runes
	for i := range signatures {
		g := &signatures[i]
		if int(g.Runes) < f.Least || int(g.Runes) > f.Most {
			continue
		}
		if g.Runes != last {
			var ok bool
			if bound, ok = bounds[g.Runes]; !ok {
				bound = f.Of(int(g.Runes))
				bounds[g.Runes] = bound
			}
			last = g.Runes
		}
		if bound.May(&g.Edit) {
			dst = append(dst, uint32(i))
		}
	}
	return dst
}

// SimilarByCosine is SimilarByEdit by word counts.
func SimilarByCosine(dst []uint32, signatures []textsim.Signature, f *textsim.CosineFilter) []uint32 {
	for i := range signatures {
		if f.May(&signatures[i].Words) {
			dst = append(dst, uint32(i))
		}
	}
	return dst
}
