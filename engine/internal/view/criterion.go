package view

import (
	"fmt"

	"github.com/simdb/simdb/engine/internal/errs"
	"github.com/simdb/simdb/internal/base"
)

// A Criterion says when two documents match: if their fingerprints differ in at most k bits, or, if
// jaccard is set, if at least the share t of the shingles of both is common, as estimated from
// sketches or, if verified is set, by the texts.
type Criterion struct {
	Jaccard, Verified bool
	K                 int
	T                 float64
}

// CheckDistance returns Invalid if k is outside 0..base.FingerprintBits.
func CheckDistance(k int) error {
	if k < 0 || k > base.FingerprintBits {
		return fmt.Errorf("a distance of %d bits is outside 0..%d: %w", k, base.FingerprintBits, errs.ErrInvalid)
	}
	return nil
}

// CheckThreshold returns Invalid if t is outside 0 < t <= 1.
func CheckThreshold(t float64) error {
	if !(t > 0 && t <= 1) {
		return fmt.Errorf("a similarity of %g is outside 0 < t <= 1: %w", t, errs.ErrInvalid)
	}
	return nil
}
