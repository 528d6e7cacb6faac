package textsim

import (
	"context"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/ordered"
)

// Contained returns a comparison with a set of features. The similarity is the share of the set
// that a text has or, if within is true, the share of the text's features that the set has.
func Contained(sets *features.SetHasher, mine []uint64, t float64, within bool) Compare {
	return func(_ context.Context, other []byte) (share float64, ok bool) {
		theirs := sets.LastSet(other)
		of := len(mine)
		if within {
			of = len(theirs)
		}
		if len(mine) == 0 || len(theirs) == 0 {
			return 0, false
		}
		need := int(t * float64(of)) // possibly one more
		share = float64(ordered.Common(mine, theirs, need)) / float64(of)
		return share, share >= t
	}
}
