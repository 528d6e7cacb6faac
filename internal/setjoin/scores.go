package setjoin

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/ordered"
)

// Scores returns the similarity of each set i with the set partner[i], 1 if that is the set
// itself.
func (s *Sets) Scores(ctx context.Context, partner []uint32) ([]float64, error) {
	return ScoresBy(ctx, partner, func() Judge { return &byElements{s.Reader(), s.Reader(), s.o.Measure.threshold(0), nil, nil} })
}

// byElements compares sets by their elements.
type byElements struct {
	mine, others *Reader
	t            threshold
	a, b         []uint64
}

// Compare returns the similarity of two sets.
func (j *byElements) Compare(a, b int) (similarity float64, ok bool, err error) {
	if j.a, err = j.mine.Append(j.a[:0], a); err == nil {
		j.b, err = j.others.Append(j.b[:0], b)
	}
	if err == nil && j.t.Kind == Weighted {
		similarity, ok = features.Weighted(j.a).JaccardAtLeast(j.b, math.SmallestNonzeroFloat64)
		return similarity, ok, nil
	}
	n := ordered.Common(j.a, j.b, 0)
	if err != nil || n == 0 {
		return 0, false, err
	}
	return j.t.score(min(len(j.a), len(j.b)), max(len(j.a), len(j.b)), n), true, nil
}

// ScoresBy is Scores with a Judge.
func ScoresBy(ctx context.Context, partner []uint32, judge func() Judge) ([]float64, error) {
	const run = 1 << 10
	scores := make([]float64, len(partner))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(partner)/run))
	errs := make([]error, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			j := judge()
			for errs[w] == nil {
				from := int(next.Add(run)) - run
				if from >= len(partner) {
					return
				}
				if errs[w] = ctx.Err(); errs[w] != nil {
					return
				}
				for i := from; i < min(from+run, len(partner)); i++ {
					if partner[i] == uint32(i) {
						scores[i] = 1
						continue
					}
					if scores[i], _, errs[w] = j.Compare(i, int(partner[i])); errs[w] != nil {
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return scores, errors.Join(errs...)
}

// common returns the similarity of an item with a set, and false if it is too low, or lower than
// the item's best.
func (j *join) common(it *item, hashes []uint64) (similarity float64, ok bool) {
	if j.t.Kind == Weighted {
		return features.Weighted(it.hashes).JaccardAtLeast(hashes, j.least(it).t)
	}
	x, y := len(it.hashes), len(hashes)
	need := j.t.need(x, y)
	if it.matches == nil && it.best.set != none {
		need = max(need, j.t.higher(it.best.score).about(x, y))
	}
	n := ordered.Common(it.hashes, hashes, need)
	if n < 0 {
		return 0, false
	}
	return j.t.score(x, y, n), true
}
