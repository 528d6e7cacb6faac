package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/cluster"
	"github.com/simdb/simdb/engine/internal/view"
)

// Clusters yields the members of all clusters of two or more visible documents that match by the
// criterion: the largest cluster first (of equally large ones the one whose keeper's ID is first),
// in each the keeper first, then by ID. It takes about 60 bytes a document where few match, and at
// most 200 however many do (by ClusterOptions.Before and by Jaccard the entry of each, or its
// sketch, in addition). Of an allowed pair (DB.Allow) neither document joins the other: both may
// join a third one, and in mode Components a chain of others may connect them. Documents in such
// pairs are taken one by one in every mode. Errors are as those of Near and Jaccard.
func (s *Snapshot) Clusters(ctx context.Context, by Criterion, o *ClusterOptions) iter.Seq2[Member, error] {
	return view.UntilDone(ctx, func(yield func(Member, error) bool) {
		err := cluster.EachMember(ctx, &s.v, by.by, o.internal(), func(m cluster.Member) bool {
			return yield(Member{Cluster: m.Cluster, Keep: m.Keep, Match: Match(m.Match)}, nil)
		})
		if err != nil {
			yield(Member{}, err)
		}
	})
}

// CountClusters returns how many clusters Clusters yields, and how many members they have in all.
func (s *Snapshot) CountClusters(ctx context.Context, by Criterion, o *ClusterOptions) (clusters, members int64, err error) {
	return cluster.CountClusters(ctx, &s.v, by.by, o.internal())
}

// internal returns the options as package cluster takes them; o may be nil.
func (o *ClusterOptions) internal() cluster.Options {
	if o == nil {
		return cluster.Options{}
	}
	c := cluster.Options{Components: o.Mode == Components, Progress: progressTo(o.Progress)}
	if before := o.Before; before != nil {
		c.Before = func(a, b view.Entry) bool { return before(Entry(a), Entry(b)) }
	}
	return c
}
