package cluster

import (
	"context"

	"github.com/simdb/simdb/engine/internal/view"
)

// CountPairs returns how many pairs match by the criterion. Documents of equal fingerprint, or by
// Jaccard of equal sets, are counted as a group, and no ID is read.
func CountPairs(ctx context.Context, v *view.View, by view.Criterion, progress func(view.Progress)) (n int64, err error) {
	err = joined(ctx, v, by, func(j *joinSet) error {
		if !by.Near() {
			n, err = j.countScored(ctx, by, progress)
			return err
		}
		return j.eachGroupPair(ctx, by.K, progress, func(x, y uint32, _ int) bool {
			lo, hi := j.span(x)
			if x == y {
				n += int64(hi-lo) * int64(hi-lo-1) / 2
				return true
			}
			lo2, hi2 := j.span(y)
			n += int64(hi-lo) * int64(hi2-lo2)
			return true
		})
	})
	return n, err
}

// CountClusters returns how many clusters there are.
func CountClusters(ctx context.Context, v *view.View, by view.Criterion, o Options) (int64, error) {
	c, err := newClustering(ctx, v, by, o)
	if err != nil {
		return 0, err
	}
	return int64(len(c.clusters)), nil
}
