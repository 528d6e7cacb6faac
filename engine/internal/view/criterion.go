package view

import (
	"fmt"

	"github.com/simdb/simdb/engine/internal/files"
)

// A Criterion says when two documents match: if their fingerprints differ in at most K bits; or, if
// Jaccard is set, if at least the share T of the shingles of both is common, as estimated from
// sketches or, if Verified is set, by the texts; or, if Text is set, if their texts are similar to
// T by that measure. Jaccard and Text are not both set.
type Criterion struct {
	Jaccard, Verified bool
	Text              TextMeasure
	K                 int
	T                 float64
}

// A TextMeasure is how texts are compared, if they decide alone.
type TextMeasure uint8

// The measures.
const (
	NoTextMeasure TextMeasure = iota
	Levenshtein               // textsim.Levenshtein
	Cosine                    // textsim.Cosine
	Contains                  // the share of the shingles of what is searched for that a document has
	Within                    // the share of the shingles of a document that it has
)

// Contained reports whether m compares two texts by what one of them has of the other.
func (m TextMeasure) Contained() bool { return m == Contains || m == Within }

// Near reports whether the criterion is one of fingerprints.
func (c Criterion) Near() bool { return !c.Jaccard && c.Text == NoTextMeasure }

// CheckThreshold returns Invalid if t is outside 0 < t <= 1.
func CheckThreshold(t float64) error {
	if !(t > 0 && t <= 1) {
		return fmt.Errorf("a similarity of %g is outside 0 < t <= 1: %w", t, files.ErrInvalid)
	}
	return nil
}
