package text

import (
	"context"
	"math"

	"github.com/simdb/simdb/internal/token"
)

// Levenshtein returns a function that compares other texts with text. It returns the similarity 1
// - d/n and true if that is at least threshold: d is the smallest number of runes to insert,
// delete or replace to turn one text into the other, n the number of runes of the longer. Two
// empty texts are not similar. It returns false if its context is cancelled; the caller must
// check. The function must not be called concurrently.
//
// The distance is computed row by row, only in the band of width 2*most+1 around the diagonal
// that a distance of at most most can reach (Ukkonen, Algorithms for approximate string matching,
// 1985). It stops when a whole row exceeds most: O(most * n) time, O(n) space.
func Levenshtein(text string, threshold float64) func(context.Context, string) (float64, bool) {
	a := []rune(text)
	var rows [2][]int32
	return func(ctx context.Context, other string) (float64, bool) {
		b := []rune(other)
		longer := max(len(a), len(b))
		if longer == 0 {
			return 0, false
		}
		// The most edits that reach the threshold; 1e-9 makes up for the rounding of 1 - threshold.
		most := min(int(math.Floor((1-threshold)*float64(longer)+1e-9)), longer)
		if max(len(a), len(b))-min(len(a), len(b)) > most {
			return 0, false
		}
		for i := range rows {
			if len(rows[i]) < len(b)+2 {
				rows[i] = make([]int32, len(b)+2)
			}
		}
		d, ok := bandedDistance(ctx, a, b, int32(most), rows)
		if !ok {
			return 0, false
		}
		return 1 - float64(d)/float64(longer), true
	}
}

// checkCells is after how many cells, some milliseconds of work, the context is checked.
const checkCells = 4 << 20

// bandedDistance returns the edit distance of a and b if it is at most most and ctx is not
// cancelled. Each row has at least len(b)+2 elements.
func bandedDistance(ctx context.Context, a, b []rune, most int32, rows [2][]int32) (int32, bool) {
	above, row, cells := rows[0], rows[1], 0
	for j := 0; j <= len(b); j++ {
		above[j] = int32(j)
	}
	for i := 1; i <= len(a); i++ {
		lo, hi := max(1, i-int(most)), min(len(b), i+int(most))
		// Outside the band every distance exceeds most. Set the two cells beside it that are read.
		row[lo-1] = most + 1
		if lo == 1 {
			row[0] = int32(i)
		}
		if hi == i+int(most) {
			above[hi] = most + 1
		}
		least := row[lo-1]
		for j := lo; j <= hi; j++ {
			d := above[j-1]
			if a[i-1] != b[j-1] {
				d = min(d, above[j], row[j-1]) + 1
			}
			row[j] = d
			least = min(least, d)
		}
		if least > most {
			return 0, false
		}
		if cells += hi - lo + 1; cells >= checkCells {
			if cells = 0; ctx.Err() != nil {
				return 0, false
			}
		}
		above, row = row, above
	}
	d := above[len(b)]
	return d, d <= most
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
