// Package texts computes what a database stores of a text, its fingerprint and sketch, and the sets
// of shingles that texts are compared by.
package texts

import (
	"slices"
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// A Hasher computes what a database stores of a text, by the database's parameters. Any number of
// goroutines may use it.
type Hasher struct {
	params sstable.Params
	spec   features.Spec // by params
	states sync.Pool     // of *fingerprint.State
}

// NewHasher returns the hasher of databases with these parameters, which must be valid.
func NewHasher(p sstable.Params) *Hasher {
	spec, err := features.Parse(p.Features)
	if err != nil {
		panic(err)
	}
	h := &Hasher{params: p, spec: spec}
	h.states.New = func() any {
		return fingerprint.New(fingerprint.Params{Shingle: int(p.Shingle), Sketch: int(p.Sketch), Seed: p.Seed, Features: spec})
	}
	return h
}

// Sums returns the fingerprint and the sketch of a text. Words is false, and the others are zero,
// if the text has no words; the sketch is nil in a database without sketches.
func (h *Hasher) Sums(text string) (fp base.Fingerprint, words bool, sketch minhash.Sketch) {
	if text == "" {
		return fp, false, nil
	}
	st := h.states.Get().(*fingerprint.State)
	r := st.Text(text)
	if words = !r.Empty; words {
		fp, sketch = r.Fingerprint, r.Sketch.Clone()
	}
	h.states.Put(st)
	return fp, words, sketch
}

// Sketches reports whether texts have sketches.
func (h *Hasher) Sketches() bool { return h.params.Sketch > 0 }

// Fill computes the sketch of text, and the fingerprint if d has none yet.
func (h *Hasher) Fill(d *sstable.Document, text string) {
	if d.HasFingerprint && h.params.Sketch == 0 {
		return
	}
	fp, words, sketch := h.Sums(text)
	if !d.HasFingerprint {
		d.Fingerprint, d.HasFingerprint = fp, words
	}
	d.Sketch = sketch
}

// Shingler returns a maker of shingle sets.
func (h *Hasher) Shingler() *Shingler {
	return &Shingler{walk: features.NewWalker(h.spec, int(h.params.Shingle), h.params.Seed)}
}

// A Shingler makes sets of features. It serves one goroutine.
type Shingler struct {
	walk        *features.Walker
	hashes, tmp []uint64
}

// Features takes features of the text that is walked, as the copies that their weight stands for.
func (s *Shingler) Features(hashes []uint64, weight int) {
	s.hashes = features.AppendReplicas(s.hashes, hashes, weight)
}

// Set returns the set of a text: of its features, each as often as its weight says. The caller owns
// it.
func (s *Shingler) Set(text []byte) Set {
	s.hashes = s.hashes[:0]
	if _, enough := s.walk.Walk(text, s); !enough {
		return nil
	}
	n := len(s.hashes)
	s.tmp = slices.Grow(s.tmp[:0], n)[:n]
	s.hashes, s.tmp = radix.SortLeading(s.hashes, s.tmp)
	return slices.Clone(slices.Compact(s.hashes))
}

// A Set is the set of the hashes of a text's features, ascending.
type Set []uint64

// Common counts the elements that a and b share.
func (a Set) Common(b Set) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

// Jaccard returns |a n b| / |a u b|; 0 if one of them is empty.
func (a Set) Jaccard(b Set) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := a.Common(b)
	return float64(n) / float64(len(a)+len(b)-n)
}
