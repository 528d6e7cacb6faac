// Package texts computes what a database stores of a text, its fingerprint and sketch, and the sets
// of shingles that texts are compared by; and it finds texts by their signatures (textindex.go).
package texts

import (
	"bytes"
	"slices"
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// A Hasher computes what a database stores of a text, by the database's parameters. Any number of
// goroutines may use it.
type Hasher struct {
	params sstable.Params
	spec   features.Spec // by params
	states sync.Pool     // of *features.Fingerprinter
}

// NewHasher returns the hasher of databases with these parameters, which must be valid.
func NewHasher(p sstable.Params) *Hasher {
	spec, err := features.Parse(p.Features)
	if err != nil {
		panic(err)
	}
	h := &Hasher{params: p, spec: spec}
	h.states.New = func() any {
		return features.NewFingerprinter(features.Params{Shingle: int(p.Shingle), Sketch: int(p.Sketch), Seed: p.Seed, Words: p.NumWords(), Features: spec})
	}
	return h
}

// Sums are what a database stores of a text. Its slices are memory for those of the next text.
type Sums struct {
	Words       bool             // the text has words; otherwise it has nothing of what follows
	Fingerprint base.Fingerprint // its first word
	Rest        []base.Fingerprint
	Sketch      minhash.Sketch // empty in a database without sketches
}

// Sum sets s to what a text has.
func (h *Hasher) Sum(s *Sums, text string) {
	*s = Sums{Rest: s.Rest[:0], Sketch: s.Sketch[:0]}
	if text == "" {
		return
	}
	st := h.states.Get().(*features.Fingerprinter)
	if r := st.Text(text); !r.Empty {
		*s = Sums{true, r.Fingerprint, append(s.Rest, r.Rest...), append(s.Sketch, r.Sketch...)}
	}
	h.states.Put(st)
}

// Sketches reports whether texts have sketches.
func (h *Hasher) Sketches() bool { return h.params.Sketch > 0 }

// Fill computes the sketch of text, and the fingerprint if d has none yet.
func (h *Hasher) Fill(d *sstable.Document, text string) {
	if d.HasFingerprint && h.params.Sketch == 0 {
		return
	}
	var s Sums
	h.Sum(&s, text)
	if !d.HasFingerprint {
		d.Fingerprint, d.Rest, d.HasFingerprint = s.Fingerprint, s.Rest, s.Words
	}
	d.Sketch = s.Sketch
}

// Shingler returns a maker of shingle sets.
func (h *Hasher) Shingler() *Shingler {
	return &Shingler{walk: features.NewWalker(h.spec, int(h.params.Shingle), h.params.Seed)}
}

// A Shingler makes sets of features. It serves one goroutine.
type Shingler struct {
	walk        *features.Walker
	hashes, tmp []uint64
	last        []byte // the text of LastSet
	lastSet     Set
}

// Features takes features of the text that is walked, as the copies that their weight stands for.
func (s *Shingler) Features(hashes []uint64, weight int) {
	s.hashes = features.AppendReplicas(s.hashes, hashes, weight)
}

// Set returns the set of a text: of its features, each as often as its weight says. The caller owns
// it.
func (s *Shingler) Set(text []byte) Set { return slices.Clone(s.Brief(text)) }

// Brief is Set for a set that is valid until the next one is made.
func (s *Shingler) Brief(text []byte) Set {
	s.hashes = s.hashes[:0]
	if _, enough := s.walk.Walk(text, s); !enough {
		return nil
	}
	n := len(s.hashes)
	s.tmp = slices.Grow(s.tmp[:0], n)[:n]
	s.hashes, s.tmp = ordered.SortLeading(s.hashes, s.tmp)
	return slices.Compact(s.hashes)
}

// LastSet is Set for a text that may be equal to that of the call before it, as copies lie side by
// side. The set is valid until the next call, whatever other sets are made.
func (s *Shingler) LastSet(text []byte) Set {
	if s.lastSet == nil || !bytes.Equal(text, s.last) {
		s.last = append(s.last[:0], text...)
		s.lastSet = append(s.lastSet[:0], s.Brief(text)...)
	}
	return s.lastSet
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

// JaccardAtLeast returns what Jaccard does, and whether that is t or more, t > 0. Sets that cannot
// be that similar are told before all of them has been compared; their score is 0.
func (a Set) JaccardAtLeast(b Set, t float64) (score float64, ok bool) {
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
	n := a.commonAtLeast(b, need)
	if n < need {
		return 0, false
	}
	return of(n), true
}

// commonAtLeast is Common where that is need or more, and less than need where it is not.
func (a Set) commonAtLeast(b Set, need int) (n int) {
	spareA, spareB := len(a)-need, len(b)-need // elements that the other one may lack
	i, k := 0, 0
	for i < len(a) && k < len(b) {
		x, y := a[i], b[k]
		if x == y {
			n++
		}
		if x <= y {
			i++
		}
		if y <= x {
			k++
		}
		if i-n > spareA || k-n > spareB {
			return -1
		}
	}
	return n
}
