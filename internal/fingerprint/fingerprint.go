// Package fingerprint computes everything that simdb indexes of a text, its SimHash and its MinHash
// sketch, in one walk over it: each word is hashed once and each shingle hash serves both.
//
//	text -> token.Shingler -> shingle hashes, 2 KB of text at a time
//	                            |-> minhash.Bottom                         the N smallest
//	                            '-> distinct.Set -> simhash.Accumulator    votes, each hash once
package fingerprint

import (
	"fmt"
	"io"
	"unsafe"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/distinct"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/simhash"
)

// Params are what fingerprints and sketches depend on, together with the text and the version of
// the tokenizer. Only those of equal parameters can be compared.
type Params struct {
	Shingle int    // words of a shingle, at least 1
	Sketch  int    // hashes of a sketch; 0 makes none
	Seed    uint64 // seed of the hash function
}

// Validate returns an error if no State can be made for p.
func (p Params) Validate() error {
	if p.Sketch < 0 || p.Sketch > minhash.MaxEncoded {
		return fmt.Errorf("sketches of %d hashes: want 0 to %d", p.Sketch, minhash.MaxEncoded)
	}
	return token.Config{Shingle: p.Shingle, Seed: p.Seed}.Validate()
}

// Result is what State.Text computes.
type Result struct {
	Fingerprint base.Fingerprint // SimHash of the set of shingles; meaningless if Empty
	Words       int              // words, with repetitions
	Shingles    int              // distinct shingles
	Empty       bool             // the text has no words: it has no fingerprint, and matches nothing
	InvalidUTF8 int              // bytes that are not UTF-8, each taken for U+FFFD
	Sketch      minhash.Sketch   // the sketch, valid until the next call; nil if Params.Sketch is 0
}

// State computes fingerprints and sketches. It is made for reuse, allocates nothing once it has
// seen a text of each size, and serves one goroutine at a time.
type State struct {
	walk   *token.Shingler
	set    distinct.Set
	fresh  []uint64 // scratch: the shingles of a segment that are new
	votes  simhash.Accumulator
	bottom *minhash.Bottom // nil: no sketch
}

// New returns a State for the given parameters, which must be valid.
func New(p Params) *State {
	s := &State{walk: token.NewShingler(p.Shingle, p.Seed)}
	if p.Sketch > 0 {
		s.bottom = minhash.NewBottom(p.Sketch)
	}
	return s
}

// Shingles takes the shingle hashes of a piece of text: it makes State a sink of its own tokenizer.
func (s *State) Shingles(hashes []uint64) {
	if s.bottom != nil {
		s.bottom.Shingles(hashes)
	}
	s.fresh = s.set.AppendNew(s.fresh[:0], hashes)
	s.votes.Add(s.fresh)
}

// Text computes the fingerprint and the sketch of text.
func (s *State) Text(text string) Result {
	return s.Bytes(unsafe.Slice(unsafe.StringData(text), len(text))) // only read
}

// Bytes computes the fingerprint and the sketch of text.
func (s *State) Bytes(text []byte) Result {
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

// Read computes the fingerprint and the sketch of the text that r holds. It keeps the distinct
// shingles in memory, not the text.
func (s *State) Read(r io.Reader) (Result, error) {
	s.reset(0)
	st, err := s.walk.Read(r, s)
	if err != nil {
		return Result{}, err
	}
	res := s.result(st)
	if s.bottom != nil {
		res.Sketch, _ = s.bottom.Sketch() // always ok: without a guess nothing is dropped by mistake
	}
	return res, nil
}

func (s *State) reset(words int) {
	s.set.Reset(words)
	s.votes.Reset()
	if s.bottom != nil {
		s.bottom.Reset(int64(words))
	}
}

func (s *State) result(st token.Stats) Result {
	return Result{
		Fingerprint: s.votes.Sum64(),
		Words:       int(st.Words),
		Shingles:    s.set.Len(),
		Empty:       st.Words == 0,
		InvalidUTF8: int(st.Invalid),
	}
}
