package cluster

import (
	"context"

	"github.com/simdb/simdb/engine/internal/view"
)

// CountPairs returns how many pairs match by the criterion. Documents of equal fingerprint, or by
// Jaccard of equal sets, are counted as a group, and no ID is read.
func CountPairs(ctx context.Context, v *view.View, by view.Criterion, progress func(view.Progress)) (n int64, err error) {
	err = joined(ctx, v, by, func(j *joinSet) error {
		size := j.sizes()
		err := j.eachSame(ctx, by, func(l *link) bool {
			n += size(l.a) * (size(l.a) - 1) / 2
			return true
		})
		if err != nil {
			return err
		}
		return j.eachGroupPair(ctx, by, progress, func(l *link) bool {
			n += size(l.a) * size(l.b)
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
