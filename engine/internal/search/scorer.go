package search

import (
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/minhash"
)

// A Scorer tests single documents against a query by Jaccard or by texts. It serves one goroutine,
// while its view is open.
type Scorer struct {
	v       *view.View
	by      view.Criterion
	except  string
	target  target
	text    features.Hashes // set of the query, if texts decide
	sets    *features.SetHasher
	other   []uint32
	similar *Similar // for text criteria; nil otherwise
	scratch []byte
}

// NewScorer prepares a search for a sample by a criterion other than Near.
func NewScorer(ctx context.Context, v *view.View, sample Sample, by view.Criterion) (*Scorer, error) {
	x := &Scorer{v: v, by: by, except: sample.ID}
	err := v.Safely(ctx, func() (err error) {
		if by.Text != view.NoTextMeasure {
			if err := v.CheckCriterion(by); err != nil {
				return err
			}
			text, err := sample.ReadText(v)
			x.similar = NewSimilar(v, text, by)
			return err
		}
		if x.target, err = jaccardTarget(v, sample, by); err != nil || !by.Verified {
			return err
		}
		x.sets = v.Texts.Sets()
		text, err := sample.ReadText(v)
		if err == nil {
			x.text = x.sets.Set(text)
		}
		return err
	})
	return x, err
}

// Empty reports whether the query can match nothing, because the sample has no sketch.
func (x *Scorer) Empty() bool { return x.similar == nil && len(x.target.sketch) == 0 }

// Match reports whether the search finds the document with this ID, and returns its match.
func (x *Scorer) Match(ctx context.Context, id string) (m view.Match, ok bool, err error) {
	if id == x.except || x.Empty() {
		return view.Match{}, false, nil
	}
	err = x.v.Safely(ctx, func() error {
		p, err := x.v.Locate(id)
		if err != nil {
			return err
		}
		if x.similar != nil {
			text, err := p.Text(&x.scratch)
			if err == nil {
				var share float64
				share, ok = x.similar.compare(ctx, text)
				m, err = scored(id, minhash.Score{Score: share, Exact: true}), ctx.Err()
			}
			return err
		}
		if x.other, err = p.Sketch(x.other[:0]); err != nil {
			return err
		}
		score, similar := minhash.JaccardAtLeast(x.target.sketch, x.other, int(x.v.Params.Sketch), x.target.t)
		if similar = similar && x.target.accepts(score); similar && x.by.Verified {
			text, err := p.Text(&x.scratch)
			if err != nil {
				return err
			}
			score = minhash.Score{Score: x.sets.Jaccard(x.text, x.sets.Brief(text)), Exact: true}
			similar = score.Score >= x.by.T
		}
		m, ok = scored(id, score), similar
		return nil
	})
	return m, ok, err
}
