package selfjoin

import (
	"cmp"
	"fmt"

	"github.com/simdb/simdb/internal/base"
)

// Columns are fingerprints of one or more words: a slice for each word, all of the same length.
// Fingerprints are ordered by their first words, then by their second words, and so on.
type Columns [][]base.Fingerprint

// Len returns the number of fingerprints.
func (c Columns) Len() int { return len(c[0]) }

// Distance returns the number of bits in which fingerprints i and j differ.
func (c Columns) Distance(i, j uint32) (d int) {
	for _, words := range c {
		d += base.Distance(words[i], words[j])
	}
	return d
}

// Compare compares fingerprints i and j in the order of Columns.
func (c Columns) Compare(i, j uint32) int {
	for _, words := range c {
		if r := cmp.Compare(words[i], words[j]); r != 0 {
			return r
		}
	}
	return 0
}

// pick returns the fingerprints with the given numbers.
func (c Columns) pick(numbers []uint32) Columns {
	picked := make(Columns, len(c))
	for w, words := range c {
		picked[w] = make([]base.Fingerprint, len(numbers))
		for i, f := range numbers {
			picked[w][i] = words[f]
		}
	}
	return picked
}

// check returns an error for input that the algorithms cannot handle.
func (c Columns) check(k int) error {
	if len(c) < 1 || len(c) > base.MaxWords {
		return fmt.Errorf("selfjoin: fingerprints of %d words: want 1 to %d", len(c), base.MaxWords)
	}
	if width := len(c) * base.FingerprintBits; k < 0 || k > width {
		return fmt.Errorf("selfjoin: k = %d is outside 0..%d", k, width)
	}
	if int64(c.Len()) > MaxFingerprints {
		return fmt.Errorf("selfjoin: %d fingerprints; the limit is %d", c.Len(), int64(MaxFingerprints))
	}
	for w := range c {
		if len(c[w]) != c.Len() {
			return fmt.Errorf("selfjoin: %d fingerprints have word %d, but %d have the first", len(c[w]), w, c.Len())
		}
	}
	for i := 1; i < c.Len(); i++ {
		if c.Compare(uint32(i-1), uint32(i)) >= 0 {
			return fmt.Errorf("selfjoin: fingerprint %d is not larger than the one before", i)
		}
	}
	return nil
}

// MaxFingerprints is the largest number of fingerprints that can be joined at once.
const MaxFingerprints = 1 << 31
