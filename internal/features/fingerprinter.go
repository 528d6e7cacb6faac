package features

import (
	"fmt"
	"io"
	"unsafe"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/simhash"
)

// Params are the parameters of fingerprints and sketches, which otherwise depend only on the text
// and the version of the tokenizer. Fingerprints and sketches are comparable only if their
// parameters are equal.
type Params struct {
	Shingle  int    // words or characters per shingle, at least 1
	Words    int    // length of a fingerprint in 64-bit words; 0 means 1
	Sketch   int    // hashes per sketch; 0 makes no sketch
	Odd      bool   // whether to make odd sketches, which need Sketch and not Real
	Seed     uint64 // seed of the hash function
	Features Spec   // defines the features; it must be canonical

	Weights *Weights // multiply those of fields; nil: all are 1

	Ignored *token.HashSet // features that no document has; nil: none. It may be used by many goroutines, so it must not change
}

// Real reports whether weights may be other than whole numbers. Then sets of features have the
// layout of Weighted, and sketches are samples that do not represent whole sets, however short.
func (p Params) Real() bool { return p.Weights != nil || p.Features.Real() }

// newWalker returns a Walker of features with their weights.
func (p Params) newWalker() *Walker {
	w := NewWalker(p.Features, p.Shingle, p.Seed)
	w.to.table, w.to.ignored = p.Weights, p.Ignored
	return w
}

// Validate returns an error if p is invalid for a Fingerprinter.
func (p Params) Validate() error {
	if p.Words < 0 || p.Words > base.MaxWords {
		return fmt.Errorf("%d bits: the length of a fingerprint is a multiple of 64 bits, from 64 to %d", 64*p.Words, 64*base.MaxWords)
	}
	if p.Sketch < 0 || p.Sketch > minhash.MaxEncoded {
		return fmt.Errorf("sketches of %d hashes: want 0 to %d", p.Sketch, minhash.MaxEncoded)
	}
	if _, err := p.Features.Canonical(); err != nil {
		return err
	}
	return p.Features.Config(p.Shingle, p.Seed).Validate()
}

// Result is the result of Fingerprinter.Text.
type Result struct {
	Fingerprint base.Fingerprint   // SimHash of the set of shingles (first word); meaningless if Empty
	Rest        []base.Fingerprint // its other words, valid until the next call; nil if there is only one
	Words       int                // words, characters or members, with repetitions
	Shingles    int                // distinct features
	Empty       bool               // the text has no features: it has no fingerprint, and matches nothing
	Short       bool               // it is Empty because it has fewer words than Spec.MinWords
	InvalidUTF8 int                // bytes that are not UTF-8, each of which counts as U+FFFD
	Sketch      minhash.Sketch     // the sketch, valid until the next call; nil if Params.Sketch is 0
	Odd         oddsketch.Sketch   // with Params.Odd, the odd sketch of the set of features
}

// Fingerprinter computes the SimHash and the MinHash sketch of a text in one pass: each word is
// hashed once, and both use the same shingle hashes.
//
//	text -> token.Shingler -> shingle hashes, 2 KB of text at a time
//	                            |-> minhash.Bottom                          the N smallest
//	                            '-> token.HashSet -> simhash.Accumulator    votes, each hash once
//
// If a Spec defines other features than shingles of a single text, a Walker yields them.
//
// A Fingerprinter is meant to be reused. It does not allocate once it has processed a text of each
// size. Only one goroutine may use it at a time.
type Fingerprinter struct {
	walk   *token.Shingler // nil if features need more than a tokenizer
	walker *Walker         // yields the features in that case
	set    token.HashSet
	fresh  []uint64 // buffer for the new shingles of a segment
	copies []uint64 // buffer for the copies of weighted features
	all    []uint64 // odd: all features, with copies
	odd    bool     // Params.Odd
	sample *sampler // Params.Real: makes the sketch
	votes  *simhash.Accumulator
	words  []base.Fingerprint // buffer for a fingerprint
	bottom *minhash.Bottom    // nil: no sketch
}

// NewFingerprinter returns a Fingerprinter with these parameters, which must be valid.
func NewFingerprinter(p Params) *Fingerprinter {
	words := max(p.Words, 1)
	s := &Fingerprinter{walker: p.newWalker(), votes: simhash.NewAccumulator(words), odd: p.Odd && p.Sketch > 0 && !p.Real()}
	s.words = make([]base.Fingerprint, words)
	s.walk = s.walker.Shingler()
	if p.Sketch > 0 {
		s.bottom = minhash.NewBottom(p.Sketch)
	}
	if p.Real() && s.bottom != nil {
		s.sample = &sampler{size: p.Sketch}
	}
	return s
}

// Shingles adds the shingle hashes of a piece of text. It implements token.Sink for the
// Fingerprinter's own tokenizer.
func (s *Fingerprinter) Shingles(hashes []uint64) {
	if s.bottom != nil {
		s.bottom.Shingles(hashes)
	}
	s.fresh = s.set.AppendNew(s.fresh[:0], hashes)
	if s.odd {
		s.all = append(s.all, s.fresh...)
	}
	s.votes.Add(s.fresh)
}

// Text computes the fingerprint and the sketch of text.
func (s *Fingerprinter) Text(text string) Result {
	return s.Bytes(unsafe.Slice(unsafe.StringData(text), len(text))) // the bytes are only read
}

// Bytes computes the fingerprint and the sketch of text.
func (s *Fingerprinter) Bytes(text []byte) Result {
	if s.walk == nil {
		return s.document(text)
	}
	words := len(text) / token.BytesPerWord
	s.reset(words)
	st := s.walk.Bytes(text, s)
	r := s.result(st)
	if s.bottom == nil {
		return r
	}
	sketch, ok := s.bottom.Sketch()
	if !ok {
		s.bottom.Reset(0)
		s.walk.Bytes(text, s.bottom)
		sketch, _ = s.bottom.Sketch()
	}
	r.Sketch = sketch
	return r
}

// Read computes the fingerprint and the sketch of the text in r. If features need only a tokenizer,
// it stores distinct shingles in memory, but not the text.
func (s *Fingerprinter) Read(r io.Reader) (Result, error) {
	if s.walk == nil {
		text, err := io.ReadAll(r)
		if err != nil {
			return Result{}, err
		}
		return s.document(text), nil
	}
	s.reset(0)
	st, err := s.walk.Read(r, s)
	if err != nil {
		return Result{}, err
	}
	res := s.result(st)
	if s.bottom != nil {
		res.Sketch, _ = s.bottom.Sketch() // always ok: without an estimated size, nothing is dropped by mistake
	}
	return res, nil
}

// Changed returns the foldings that have changed a text. Words never have case.
func (s *Fingerprinter) Changed() Folds { return s.walker.normal.changed | foldCase }

// mostBuffer is the number of features for which a buffer is reused.
const mostBuffer = 1 << 20

func (s *Fingerprinter) reset(words int) {
	s.set.Reset(words)
	s.votes.Reset()
	if s.all = s.all[:0]; cap(s.all) > mostBuffer {
		s.all = nil // of a very long text
	}
	if s.bottom != nil {
		s.bottom.Reset(int64(words))
	}
	if s.sample != nil {
		s.sample.reset()
	}
}

func (s *Fingerprinter) result(st token.Stats) Result {
	s.votes.Sum(s.words)
	r := Result{
		Fingerprint: s.words[0],
		Words:       int(st.Words),
		Shingles:    s.set.Len(),
		Empty:       s.set.Len() == 0,
		InvalidUTF8: int(st.Invalid),
	}
	if len(s.words) > 1 {
		r.Rest = s.words[1:]
	}
	if s.odd {
		r.Odd = oddsketch.Of(s.all)
	}
	return r
}

// document is Bytes for features that need a Walker.
func (s *Fingerprinter) document(text []byte) Result {
	s.reset(len(text) / token.BytesPerWord)
	st, enough := s.walker.Walk(text, s)
	if !enough {
		return Result{Words: int(st.Words), Empty: true, Short: true, InvalidUTF8: int(st.Invalid)}
	}
	r := s.result(st)
	if s.bottom == nil {
		return r
	}
	if s.sample != nil {
		if !r.Empty {
			r.Sketch = s.sample.sketch()
		}
		return r
	}
	sketch, ok := s.bottom.Sketch()
	if !ok {
		s.bottom.Reset(0)
		s.walker.Walk(text, (*sketchOnly)(s))
		sketch, _ = s.bottom.Sketch()
	}
	r.Sketch = sketch
	return r
}

// Features adds the features of a piece of text. It implements Sink for the Fingerprinter's own
// walker. Features arrive by decreasing weight, so a new feature has its largest weight.
func (s *Fingerprinter) Features(hashes []uint64, weight float64) {
	s.fresh = s.set.AppendNew(s.fresh[:0], hashes)
	s.votes.AddWeighted(s.fresh, weight)
	if s.odd {
		s.all = appendCopies(s.all, s.fresh, weight)
	}
	if s.sample != nil {
		s.sample.add(s.fresh, weight)
		return
	}
	(*sketchOnly)(s).Features(hashes, weight)
}

// sketchOnly is a Fingerprinter used as a Sink that only makes the sketch.
type sketchOnly Fingerprinter

// Features adds the features of a piece of text.
func (s *sketchOnly) Features(hashes []uint64, weight float64) {
	if s.bottom == nil {
		return
	}
	if weight != 1 {
		s.copies = appendCopies(s.copies[:0], hashes, weight)
		hashes = s.copies
	}
	s.bottom.Shingles(hashes)
}
