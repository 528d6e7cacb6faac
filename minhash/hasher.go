package minhash

import (
	"cmp"
	"fmt"
	"io"

	"github.com/simdb/simdb/internal/token"
)

// Options define the shingles of a text and the number of hashes in a sketch. Sketches are
// comparable only if they were made with equal Options.
type Options struct {
	// Size is N, the number of hashes of a full sketch. Zero means 128.
	Size int
	// Shingle is the number of words of a shingle, or of characters of an n-gram. Zero means 3.
	Shingle int
	// Seed is the seed of the hash function.
	Seed uint64
	// CharGrams makes n-grams of characters instead of shingles of words. This is better for very
	// short texts.
	CharGrams bool
	// Symbols makes each run of characters that are not letters, marks, numbers or white space a
	// separate word; with CharGrams, each such character a character.
	Symbols bool
	// RequireWords, if not nil, drops all shingles without one of these words.
	RequireWords []string
}

// Hasher makes sketches of texts. Reuse it: it allocates nothing after New. It must not be used
// concurrently.
type Hasher struct {
	walk   *token.Shingler
	bottom *Bottom
}

// New returns a Hasher, or an error if the options are invalid.
func New(o Options) (*Hasher, error) {
	o.Size = cmp.Or(o.Size, 128)
	if o.Shingle == 0 {
		o.Shingle = 3
	}
	if o.Size < 1 || o.Size > MaxEncoded {
		return nil, fmt.Errorf("minhash: a sketch of %d hashes: want 1 to %d", o.Size, MaxEncoded)
	}
	c := token.Config{Shingle: o.Shingle, Seed: o.Seed, CharGrams: o.CharGrams, Symbols: o.Symbols, Require: o.RequireWords}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("minhash: %w", err)
	}
	return &Hasher{walk: token.New(c), bottom: NewBottom(o.Size)}, nil
}

// Text returns the sketch of text, valid until the next call. It is empty if text has no shingles.
func (h *Hasher) Text(text string) Sketch {
	h.bottom.Reset(int64(len(text) / token.BytesPerWord))
	h.walk.Text(text, h.bottom)
	s, ok := h.bottom.Sketch()
	if !ok {
		h.bottom.Reset(0)
		h.walk.Text(text, h.bottom)
		s, _ = h.bottom.Sketch()
	}
	return s
}

// Read returns the sketch of the text that it reads from r, valid until the next call. Its
// memory does not depend on the length of the text.
func (h *Hasher) Read(r io.Reader) (Sketch, error) {
	h.bottom.Reset(0)
	if _, err := h.walk.Read(r, h.bottom); err != nil {
		return nil, err
	}
	s, _ := h.bottom.Sketch() // complete, since no limit was guessed
	return s, nil
}
