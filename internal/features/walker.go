package features

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/token"
)

// Sink receives the features of a document, with repetitions, in pieces of any length, with their
// weight, which is positive and finite. If a feature has several weights, the largest one comes
// first, and counts. A Sink must not retain the slice.
type Sink interface {
	Features(hashes []uint64, weight float64)
}

// Walker passes the features of documents to a Sink. It is meant to be reused, by one goroutine at
// a time.
type Walker struct {
	spec    Spec
	fields  []Field // of the spec, or the only text
	order   []int   // indexes of the fields by decreasing weight
	walk    *token.Shingler
	hash    token.Hasher
	normal  normalizer
	parts   [][]byte           // buffer for the texts of fields
	given   map[uint64]float64 // weights of given features
	members []uint64           // buffer for their hashes
	to      weighted
}

// Config returns the configuration of a tokenizer for the features of s, which must be canonical.
func (s Spec) Config(k int, seed uint64) token.Config {
	return token.Config{Shingle: k, Seed: seed, CharGrams: s.Unit == Chars, Symbols: s.Symbols, Require: s.inForm(s.RequireWords), Version: s.Version()}
}

// Words returns the words of text that shingles consist of.
func (s Spec) Words(text string) []string {
	n := newNormalizer(s)
	return slices.Collect(n.rules.Split(string(n.text([]byte(text)))))
}

// NewWalker returns a Walker for shingles of k words or characters with the hash function of a
// seed. The spec must be canonical.
func NewWalker(s Spec, k int, seed uint64) *Walker {
	w := &Walker{spec: s, walk: token.New(s.Config(k, seed)), hash: token.NewHasher(seed), normal: newNormalizer(s), fields: s.Fields, given: map[uint64]float64{}}
	if w.fields == nil {
		w.fields = []Field{{Weight: 1}}
	}
	for i := range w.fields {
		w.order = append(w.order, i)
	}
	slices.SortStableFunc(w.order, func(i, j int) int { return cmp.Compare(w.fields[j].Weight, w.fields[i].Weight) })
	return w
}

// Shingler returns the tokenizer if it suffices: features are those of the unchanged text, with
// weight 1. Otherwise it returns nil.
func (w *Walker) Shingler() *token.Shingler {
	s := w.spec
	if w.to.table != nil || w.to.ignored != nil || s.Fields != nil || IsGiven(s.Unit) || s.Unit == Own || w.normal.active() || s.MinWords > 0 {
		return nil
	}
	return w.walk
}

// weighted is a token.Sink that passes hashes on with a weight.
type weighted struct {
	sink   Sink
	weight float64
	table  *Weights // nil: all are 1
	one    [1]uint64

	ignored *token.HashSet // nil: none
	others  []uint64       // buffer for features that are not ignored
}

// Shingles passes hashes on.
func (s *weighted) Shingles(hashes []uint64) {
	if s.ignored != nil {
		s.others = s.others[:0]
		for _, h := range hashes {
			if !s.ignored.Has(h) {
				s.others = append(s.others, h)
			}
		}
		hashes = s.others
	}
	if s.table == nil {
		s.sink.Features(hashes, s.weight)
		return
	}
	for _, h := range hashes {
		if w := s.table.Of(h); w > 0 {
			s.one[0] = h
			s.sink.Features(s.one[:], s.weight*w)
		}
	}
}

// Walk passes the features of text to sink. enough is false if the text has fewer than MinWords
// words: then it has no features, and the caller must discard those passed to sink.
func (w *Walker) Walk(text []byte, sink Sink) (st token.Stats, enough bool) {
	w.to.sink, w.to.weight = sink, 1
	if IsGiven(w.spec.Unit) || w.spec.Unit == Own {
		return w.walkGiven(text)
	}
	w.parts = w.parts[:0]
	for more := true; more; {
		part := text
		if more = len(w.parts) < len(w.fields)-1; more {
			part, text, more = bytes.Cut(text, []byte{Separator})
		}
		w.parts = append(w.parts, part)
	}
	return w.walkFields()
}

// walkGiven is Walk for features that are not cut from text. If a feature was given several times,
// its weight is the sum; a member of a set has weight 1.
func (w *Walker) walkGiven(text []byte) (st token.Stats, enough bool) {
	clear(w.given)
	w.members = w.members[:0]
	add := func(feature []byte, weight float64) {
		if weight >= MinWeight && len(feature) > 0 {
			h := w.hash.Feature(feature)
			w.members = append(w.members, h)
			if w.spec.Unit != Set {
				w.given[h] += weight
			}
		}
	}
	switch w.spec.Unit {
	case Set:
		Members(text, func(member []byte) { add(member, 1) })
	case Given:
		Pairs(text, add) // an error was reported when the text was read
	default:
		for feature, weight := range w.spec.Compute(string(text)) {
			add([]byte(feature), weight)
		}
	}
	st = token.Stats{Bytes: int64(len(text)), Words: int64(len(w.members))}
	if w.spec.Unit == Set {
		w.to.Shingles(w.members)
	}
	for h, weight := range w.given {
		w.members, w.to.weight = append(w.members[:0], h), min(weight, MaxWeight)
		w.to.Shingles(w.members)
	}
	return st, st.Words >= int64(w.spec.MinWords)
}

// walkFields walks over the texts of fields, by decreasing weight.
func (w *Walker) walkFields() (sum token.Stats, enough bool) {
	words := int64(0)
	for _, i := range w.order {
		if i >= len(w.parts) {
			continue
		}
		w.to.weight = w.fields[i].Weight
		text := w.normal.text(w.parts[i])
		st := w.walk.Bytes(text, &w.to)
		words += w.words(text, st)
		sum.Bytes, sum.Words, sum.Invalid = sum.Bytes+st.Bytes, sum.Words+st.Words, sum.Invalid+st.Invalid
	}
	return sum, words >= int64(w.spec.MinWords)
}

// words returns the number of words in text, if MinWords requires it. For features of characters,
// it walks over the text again.
func (w *Walker) words(text []byte, st token.Stats) int64 {
	if w.spec.MinWords == 0 || w.spec.Unit != Chars {
		return st.Words
	}
	return int64(w.normal.rules.Count(text, w.spec.MinWords))
}
