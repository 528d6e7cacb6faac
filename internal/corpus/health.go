package corpus

import (
	"cmp"
	"context"
	"math"
	"sort"

	"github.com/simdb/simdb/internal/features"
)

// Find returns the number of the document with an ID, which there is, the last one of those with it.
func (l *Listing) Find(id string) (n uint32, err error) {
	at := sort.Search(len(l.byID), func(i int) bool {
		other, e := l.id(l.byID[i])
		err = cmp.Or(err, e)
		return string(other) > id
	})
	return l.byID[max(at, 1)-1], err
}

// Diameter compares all documents of a list with each other. It returns the least similarity of
// two of them by the criterion, or with fingerprints the greatest distance.
func (c *Corpus) Diameter(ctx context.Context, docs []uint32, by Criterion) (worst float64, err error) {
	if !by.Sets {
		for i, a := range docs {
			for _, b := range docs[:i] {
				worst = max(worst, float64(c.Distance(a, b)))
			}
		}
		return worst, nil
	}
	if c.texts != nil {
		return c.textDiameter(ctx, docs)
	}
	sets, r := make([]features.Hashes, len(docs)), c.Sets.Reader()
	for i, n := range docs {
		if sets[i], err = r.Append(nil, int(n)); err != nil {
			return 0, err
		}
	}
	worst = 1
	for i, a := range sets {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		for _, b := range sets[:i] {
			worst = min(worst, a.Jaccard(b))
		}
	}
	return worst, nil
}

// textDiameter is Diameter where texts are compared.
func (c *Corpus) textDiameter(ctx context.Context, docs []uint32) (worst float64, err error) {
	worst = 1
	j := c.Judges(ctx, math.SmallestNonzeroFloat64)()
	for i, a := range docs {
		for _, b := range docs[:i] {
			score, _, err := j.Compare(int(a), int(b))
			if err != nil {
				return 0, err
			}
			worst = min(worst, score)
		}
	}
	return worst, nil
}
