package text

import (
	"context"
	"math"

	"github.com/simdb/simdb/internal/editdist"
	"github.com/simdb/simdb/internal/token"
)

// Levenshtein returns a function that compares other texts with text. It returns the similarity 1
// - d/n and true if that is at least threshold: d is the smallest number of runes to insert,
// delete or replace to turn one text into the other, n the number of runes of the longer. Two
// empty texts are not similar. It returns false if its context is cancelled; the caller must
// check. The function must not be called concurrently.
func Levenshtein(text string, threshold float64) func(context.Context, string) (float64, bool) {
	p := editdist.NewPattern(text)
	return func(ctx context.Context, other string) (float64, bool) {
		b := []rune(other)
		longer := max(p.Len(), len(b))
		if longer == 0 {
			return 0, false
		}
		// The most edits that reach the threshold; 1e-9 makes up for the rounding of 1 - threshold.
		most := min(int(math.Floor((1-threshold)*float64(longer)+1e-9)), longer)
		d, ok := p.Distance(ctx, b, most)
		if !ok {
			return 0, false
		}
		return 1 - float64(d)/float64(longer), true
	}
}

// Cosine returns a function that compares other texts with text. It returns the cosine of their
// vectors of word counts, and true if it is at least threshold. A text without words is similar to
// nothing. The function must not be called concurrently.
func Cosine(text string, threshold float64) func(context.Context, string) (float64, bool) {
	words := token.NewShingler(1, 0)
	a, b := make(wordCounts), make(wordCounts)
	words.Text(text, a)
	aa := dot(a, a)
	return func(_ context.Context, other string) (float64, bool) {
		clear(b)
		words.Text(other, b)
		bb := dot(b, b)
		if aa == 0 || bb == 0 {
			return 0, false
		}
		// One square root over both keeps equal texts at exactly 1.
		c := dot(a, b) / math.Sqrt(aa*bb)
		return c, c >= threshold
	}
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

// wordCounts counts words by their hash.
type wordCounts map[uint64]float64

// Shingles counts shingles of one word: it is a token.Sink.
func (c wordCounts) Shingles(hashes []uint64) {
	for _, h := range hashes {
		c[h]++
	}
}
