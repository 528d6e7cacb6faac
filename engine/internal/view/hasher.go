package view

import (
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// A Hasher computes the fingerprint and the sketch of a text, by the parameters of a database. Any
// number of goroutines may use it.
type Hasher struct {
	params table.Params
	spec   features.Spec // from params
	odd    bool          // Params.Odd
	states sync.Pool     // of *features.Fingerprinter
}

// NewHasher returns the hasher of databases with these parameters, which must be valid.
func NewHasher(p table.Params) *Hasher {
	spec, err := p.Spec()
	if err != nil {
		panic(err)
	}
	h := &Hasher{params: p, spec: spec, odd: p.Odd()}
	h.states.New = func() any {
		return features.NewFingerprinter(features.Params{Shingle: int(p.Shingle), Sketch: int(p.Sketch), Seed: p.Seed, Words: p.NumWords(), Features: spec, Odd: h.odd})
	}
	return h
}

// Sums are the fingerprint and the sketch of a text. Its slices are reused for the next text.
type Sums struct {
	Words       bool             // the text has a fingerprint; otherwise Fingerprint and Rest are empty
	Fingerprint base.Fingerprint // first word of the fingerprint
	Rest        []base.Fingerprint
	Sketch      minhash.Sketch   // empty in a database without sketches
	Odd         oddsketch.Sketch // in databases where Hasher.Odd
}

// Sum sets s to the fingerprint and the sketch of text.
func (h *Hasher) Sum(s *Sums, text string) {
	*s = Sums{Rest: s.Rest[:0], Sketch: s.Sketch[:0]}
	if text == "" {
		return
	}
	st := h.states.Get().(*features.Fingerprinter)
	if r := st.Text(text); !r.Empty {
		s.Odd = r.Odd
		if s.Sketch = append(s.Sketch, r.Sketch...); h.spec.Code == "" {
			s.Words, s.Fingerprint, s.Rest = true, r.Fingerprint, append(s.Rest, r.Rest...)
		}
	}
	h.states.Put(st)
}

// Sketches reports whether texts have sketches.
func (h *Hasher) Sketches() bool { return h.params.Sketch > 0 }

// Odd reports whether texts have odd sketches.
func (h *Hasher) Odd() bool { return h.odd }

// Several reports whether documents may have several fingerprints.
func (h *Hasher) Several() bool { return h.spec.Several }

// Spec describes the features of texts.
func (h *Hasher) Spec() features.Spec { return h.spec }

// InOrder returns the features of a text in text order, and the number of consecutive features in a
// run of the given number of words: a text that contains the run has these features, too. ok is
// false if the features of the database do not have this property.
func (h *Hasher) InOrder(text []byte, words int) (hashes Ordered, number int, ok bool) {
	number = words - int(h.params.Shingle) + 1
	s := h.spec
	if s.Unit != "" || s.RequireWords != nil || s.MinWords > words || number < 1 {
		return nil, 0, false
	}
	h.Walker().Walk(text, &hashes)
	return hashes, number, true
}

// Walker returns a walker over the features of texts.
func (h *Hasher) Walker() *features.Walker {
	return features.NewWalker(h.spec, int(h.params.Shingle), h.params.Seed)
}

// Ordered collects features in text order, with repetitions: it is a features.Sink. Weights do not
// matter.
type Ordered []uint64

// Features appends features.
func (a *Ordered) Features(hashes []uint64, _ float64) { *a = append(*a, hashes...) }

// Fill computes the sketch of text, and the fingerprint if d has none yet.
func (h *Hasher) Fill(d *table.Document, text string) {
	if d.HasFingerprint && h.params.Sketch == 0 {
		return
	}
	var s Sums
	h.Sum(&s, text)
	if !d.HasFingerprint {
		d.Fingerprint, d.Rest, d.HasFingerprint = s.Fingerprint, s.Rest, s.Words
	}
	if d.Sketch = s.Sketch; h.odd && len(s.Sketch) > 0 {
		d.Odd = &s.Odd
	}
}

// Sets returns a hasher for the sets of features that comparisons of texts use.
func (h *Hasher) Sets() *features.SetHasher {
	return h.params.NewSetHasher()
}
