package simhash

import (
	"cmp"
	"fmt"
	"io"
	"sync"

	"github.com/simdb/simdb/internal/token"
)

// Options define the features of a text. Fingerprints are comparable only if they were made with
// equal Options.
type Options struct {
	// Shingle is the number of words of a shingle, or of characters of an n-gram. Zero means 3.
	Shingle int
	// Seed is the seed of the hash function.
	Seed uint64
	// Bits is the length of the fingerprint, a multiple of 64 up to 4096. Zero means 64.
	Bits int
	// CharGrams makes n-grams of characters the features, instead of shingles of words. This is
	// better for very short texts.
	CharGrams bool
	// Symbols makes each run of characters that are not letters, marks, numbers or white space a
	// separate word (with CharGrams, each such character a character), so that programs that differ
	// in an operator have different features.
	Symbols bool
	// RequireWords, if not nil, is a list of words. Only shingles with at least one of these words
	// vote. With words such as "the" and "of", which occur in prose but not in the lists, menus and
	// advertisements around it, only prose votes.
	RequireWords []string
	// Features, if not nil, finds the features of a text instead of the tokenizer: it must call add
	// for each feature, with its weight. The weights of a feature that is added several times are
	// summed. All other options except Seed and Bits are ignored.
	Features func(text string, add func(feature []byte, weight int32))
}

// Text returns the 64-bit SimHash of the set of k-word shingles of text, with seed 0. ok is false,
// and the fingerprint meaningless, if text has no words, or if k is larger than New accepts. A k
// below 1 counts as 1; 3 is usual. Any number of goroutines may call it.
func Text(text string, k int) (fp uint64, ok bool) {
	k = max(k, 1)
	if k < len(hashers) {
		if h, pooled := hashers[k].Get().(*Hasher); pooled {
			defer hashers[k].Put(h)
			return h.Text(text)
		}
	}
	h, err := New(Options{Shingle: k})
	if err != nil {
		return 0, false
	}
	if k < len(hashers) {
		defer hashers[k].Put(h)
	}
	return h.Text(text)
}

// hashers are idle Hashers of [Text], by length of a shingle: making one costs more than hashing a
// short text.
var hashers [9]sync.Pool

// Hasher computes fingerprints of texts. Reuse it: it allocates nothing once it has processed texts
// of the same size. It must not be used concurrently.
type Hasher struct {
	words    int // words in a fingerprint
	walk     *token.Shingler
	set      token.HashSet
	fresh    []uint64 // buffer for the new hashes of a piece of text
	votes    *Accumulator
	hash     token.Hasher
	features func(text string, add func(feature []byte, weight int32))
	hashes   []uint64 // hashes of features
	weights  []int32
	add      func(feature []byte, weight int32)
}

// New returns a Hasher, or an error if the options are invalid.
func New(o Options) (*Hasher, error) {
	o.Bits = cmp.Or(o.Bits, 64)
	if o.Shingle == 0 {
		o.Shingle = 3
	}
	if o.Bits < 64 || o.Bits > 64*MaxWords || o.Bits%64 != 0 {
		return nil, fmt.Errorf("simhash: a fingerprint of %d bits: want a multiple of 64 up to %d", o.Bits, 64*MaxWords)
	}
	c := token.Config{Shingle: o.Shingle, Seed: o.Seed, CharGrams: o.CharGrams, Symbols: o.Symbols, Require: o.RequireWords}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("simhash: %w", err)
	}
	h := &Hasher{words: o.Bits / 64, hash: token.NewHasher(o.Seed), features: o.Features}
	if o.Features != nil {
		h.add = func(feature []byte, weight int32) {
			h.hashes = append(h.hashes, h.hash.Feature(feature))
			h.weights = append(h.weights, weight)
		}
		return h, nil
	}
	h.walk = token.New(c)
	h.votes = NewAccumulator(h.words)
	return h, nil
}

// Text returns the first 64 bits of the fingerprint of text; these are all bits unless Options.Bits
// is larger. ok is false, and the fingerprint meaningless, if text has no features.
func (h *Hasher) Text(text string) (fp uint64, ok bool) {
	var dst [MaxWords]uint64
	ok = h.Wide(dst[:h.words], text)
	return dst[0], ok
}

// Wide stores the fingerprint of text in dst, which must have Options.Bits/64 words. ok is false,
// and the fingerprint meaningless, if text has no features.
func (h *Hasher) Wide(dst []uint64, text string) (ok bool) {
	if h.features != nil {
		h.hashes, h.weights = h.hashes[:0], h.weights[:0]
		h.features(text, h.add)
		SumWeighted(dst[:h.words], h.hashes, h.weights)
		return len(h.hashes) > 0
	}
	h.reset(len(text) / token.BytesPerWord)
	h.walk.Text(text, (*sink)(h))
	return h.sum(dst)
}

// Read stores the fingerprint of the text that it reads from r in dst, as Wide does. It holds the
// distinct shingles in memory, and the text only if Options.Features is set.
func (h *Hasher) Read(dst []uint64, r io.Reader) (ok bool, err error) {
	if h.features != nil {
		text, err := io.ReadAll(r)
		if err != nil {
			return false, err
		}
		return h.Wide(dst, string(text)), nil
	}
	h.reset(0)
	if _, err := h.walk.Read(r, (*sink)(h)); err != nil {
		return false, err
	}
	return h.sum(dst), nil
}

func (h *Hasher) reset(words int) {
	h.set.Reset(words)
	h.votes.Reset()
}

// sum stores the fingerprint of the votes so far in dst.
func (h *Hasher) sum(dst []uint64) (ok bool) {
	h.votes.Sum(dst[:h.words])
	return h.votes.Len() > 0
}

// sink is a Hasher as the sink of its tokenizer.
type sink Hasher

// Shingles lets the hashes vote that have not voted yet.
func (s *sink) Shingles(hashes []uint64) {
	s.fresh = s.set.AppendNew(s.fresh[:0], hashes)
	s.votes.Add(s.fresh)
}
