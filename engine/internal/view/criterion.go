package view

import (
	"fmt"

	"github.com/simdb/simdb/engine/internal/files"
)

// A Criterion says when two documents match: if their fingerprints differ in at most K bits; or, if
// Jaccard is set, if they share at least the fraction T of all their shingles, as estimated from
// sketches or, if Verified is set, computed from the texts; or, if Text is set, if their texts have
// a similarity of at least T by that measure. Jaccard and Text are not both set.
type Criterion struct {
	None              bool // no criterion: CheckCriterion refuses it
	Jaccard, Verified bool
	Text              TextMeasure
	K                 int
	T                 float64
	Together          bool // for Contains: all documents together contain the shingles, at their positions
}

// A TextMeasure says how to compare texts, if only they decide.
type TextMeasure uint8

// The measures.
const (
	NoTextMeasure TextMeasure = iota
	Levenshtein               // textsim.Levenshtein
	Cosine                    // textsim.Cosine
	Contains                  // fraction of the query's shingles that the document contains
	Within                    // fraction of the document's shingles that the query contains
)

// Contained reports whether m measures how much of one text is in the other.
func (m TextMeasure) Contained() bool { return m == Contains || m == Within }

// Near reports whether the criterion compares fingerprints.
func (c Criterion) Near() bool { return !c.Jaccard && c.Text == NoTextMeasure }

// CheckThreshold returns ErrInvalid if t is outside 0 < t <= 1.
func CheckThreshold(t float64) error {
	if !(t > 0 && t <= 1) {
		return fmt.Errorf("a similarity of %g is outside 0 < t <= 1: %w", t, files.ErrInvalid)
	}
	return nil
}
