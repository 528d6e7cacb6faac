// Package textsim compares texts: by edit distance, for short texts, and by the cosine of their
// word counts. A Signature of 44 bytes per text rules out most texts that are not similar without
// reading them.
package textsim

import (
	"context"
	"encoding/binary"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/token"
)

// A Compare compares other texts with one text. It returns their similarity, and whether that is at
// least a threshold. ok is also false if the context ends, which the caller must check. It must not
// be called concurrently.
type Compare func(ctx context.Context, other []byte) (similarity float64, ok bool)

// Levenshtein returns a comparison with text. The similarity is 1 - d/n: d is the smallest number
// of runes to insert, delete or replace to turn one text into the other, and n is the number of
// runes of the longer text. A Blank text is not similar to any text.
// Both texts are folded as the features require.
func Levenshtein(of features.Spec, text string, threshold float64) Compare {
	fold := of.NewTextFolder()
	text = string(fold.Fold([]byte(text)))
	p, blank := kernel.NewPattern(text), Blank(text)
	return func(ctx context.Context, other []byte) (float64, bool) {
		if other = fold.Fold(other); blank || Blank(other) {
			return 0, false
		}
		n := runeCount(other)
		longer := max(p.Len(), n)
		d, ok := p.Within(ctx, other, n, MostEdits(longer, threshold))
		if !ok {
			return 0, false
		}
		return 1 - float64(d)/float64(longer), true
	}
}

// Blank reports whether a text has only white space.
func Blank[T string | []byte](text T) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			if c := text[i]; c != ' ' && (c < '\t' || c > '\r') {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		if !unicode.IsSpace(r) {
			return false
		}
		i += size
	}
	return true
}

// runeCount is utf8.RuneCount, but faster for ASCII.
func runeCount(text []byte) (n int) {
	for len(text)-n >= 8 && binary.LittleEndian.Uint64(text[n:])&0x8080808080808080 == 0 {
		n += 8
	}
	return n + utf8.RuneCount(text[n:])
}

// MostEdits returns the largest number of edits at which two texts reach a threshold, if the longer
// one has this many runes. 1e-9 compensates for the rounding of 1 - threshold.
func MostEdits(longer int, threshold float64) int {
	return min(int(math.Floor((1-threshold)*float64(longer)+1e-9)), longer)
}

// Cosine returns a comparison with text. The similarity is the cosine of the vectors of word
// counts. A text without words is not similar to any text. Both texts are folded as the features
// require.
func Cosine(of features.Spec, text string, threshold float64) Compare {
	words, fold := newWords(of), of.NewTextFolder()
	a, b := make(wordCounts), make(wordCounts)
	words.Bytes(fold.Fold([]byte(text)), a)
	aa := dot(a, a)
	return func(_ context.Context, other []byte) (float64, bool) {
		clear(b)
		words.Bytes(fold.Fold(other), b)
		bb := dot(b, b)
		if aa == 0 || bb == 0 {
			return 0, false
		}
		// With a single square root, the similarity of equal texts is exactly 1.
		c := dot(a, b) / math.Sqrt(aa*bb)
		return c, c >= threshold
	}
}

// newWords returns a Shingler for single words by the version of the features.
func newWords(of features.Spec) *token.Shingler {
	return token.New(token.Config{Shingle: 1, Version: of.Version()})
}

func dot(a, b wordCounts) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	sum := 0.0
	for w, n := range a {
		sum += n * b[w]
	}
	return sum
}

// wordCounts are counts of words by hash.
type wordCounts map[uint64]float64

// Shingles implements token.Sink: it counts shingles of one word.
func (c wordCounts) Shingles(hashes []uint64) {
	for _, h := range hashes {
		c[h]++
	}
}
