package setjoin

import (
	"context"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/textsim"
)

// A Judge compares the texts of two sets. It is not safe for concurrent use.
type Judge interface {
	// Compare returns the similarity of the texts of a and b, and false if it is below the
	// threshold. It is fastest while a stays the same.
	Compare(a, b int) (score float64, ok bool, err error)
}

// A TextJudge is a Judge that compares texts, by cosine if Kind is Cosine, else by
// edit distance.
type TextJudge struct {
	Ctx  context.Context
	Kind Kind
	T    float64
	Of   features.Spec                                // how texts are folded
	Text func(i int, scratch *[]byte) ([]byte, error) // may use scratch for a text that is not in memory

	one           int // the set that with compares others with
	with          textsim.Compare
	mine, scratch []byte
}

// Compare is described at Judge.
func (j *TextJudge) Compare(a, b int) (score float64, ok bool, err error) {
	if j.with == nil || j.one != a {
		text, err := j.Text(a, &j.mine)
		if err != nil {
			return 0, false, err
		}
		start := textsim.Levenshtein
		if j.Kind == Cosine {
			start = textsim.Cosine
		}
		j.one, j.with = a, start(j.Of, string(text), j.T)
	}
	text, err := j.Text(b, &j.scratch)
	if err != nil {
		return 0, false, err
	}
	score, ok = j.with(j.Ctx, text)
	return score, ok, j.Ctx.Err()
}
