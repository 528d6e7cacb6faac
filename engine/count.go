package engine

import (
	"context"
)

// CountPairs returns how many pairs Pairs yields. Documents of equal fingerprint, or by
// Jaccard of equal sets, are counted as a group, and no ID is read.
func (s *Snapshot) CountPairs(ctx context.Context, by Criterion, progress func(Progress)) (n int64, err error) {
	err = s.joined(ctx, by, func(j *joinSet) error {
		if by.jaccard {
			n, err = j.countScored(ctx, by, progress)
			return err
		}
		return j.eachGroupPair(ctx, by.k, progress, func(x, y uint32, _ int) bool {
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

// CountClusters returns how many clusters Clusters yields, and how many members they have in all.
func (s *Snapshot) CountClusters(ctx context.Context, by Criterion, o *ClusterOptions) (clusters, members int64, err error) {
	if o == nil {
		o = &ClusterOptions{}
	}
	err = s.safely(ctx, func() error {
		c, err := s.cluster(ctx, by, o)
		if err != nil {
			return err
		}
		for _, cl := range c.clusters {
			members += int64(cl.size)
		}
		clusters = int64(len(c.clusters))
		return nil
	})
	return clusters, members, err
}

// CountJaccard returns how many documents Jaccard yields, or JaccardVerified if the criterion,
// which must be one of Jaccard, is verified.
func (s *Snapshot) CountJaccard(ctx context.Context, doc Doc, by Criterion) (n int64, err error) {
	sc := jaccardPool.Get().(*jaccardScratch)
	defer sc.release()
	err = s.safely(ctx, func() error {
		if err := s.jaccardHits(ctx, doc, by, sc); err != nil {
			return err
		}
		n = int64(len(sc.hits))
		return nil
	})
	return n, err
}
