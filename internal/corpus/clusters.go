package corpus

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/selfjoin"
)

// Clusters are the clusters of two or more documents of a Listing.
type Clusters struct {
	*collection.Clusters[uint32] // by rank
	l                            *Listing
	scores                       []float64 // by document: similarity with its keeper; nil for distances
}

// Clusters forms clusters: stars, in which every document joins the most similar keeper before
// it, or components of documents that are connected by matches.
func (l *Listing) Clusters(ctx context.Context, by Criterion, components bool, o JoinOptions) (*Clusters, error) {
	c, err := l.collection(ctx, by, components && (by.Sets || l.Groups != nil), o)
	if err != nil {
		return nil, err
	}
	as := &collection.Clustering{Collection: c, Components: components, Order: l.Order}
	as.Near = func(order []uint32) *collection.Fingerprints { return l.distinct(l.inOrder(slices.Clone(order))) }
	if g := l.Groups; g != nil {
		group := func(n uint32) (uint64, bool) { return g.Number(n), true }
		apart := g.Apart(selfjoin.Apart{
			Involved: func(uint32) bool { return true }, Accept: g.Accept, Group: group, Distance: l.Distance,
		})
		as.Apart = &apart
		if by.Sets && !components {
			if as.Same, err = l.Equal(ctx, group); err != nil {
				return nil, err
			}
		}
	}
	keeper, scores, err := as.Keepers(ctx)
	if err != nil {
		return nil, err
	}
	rank := func(n uint32) (uint32, error) { return l.rankOf(n), nil }
	found, err := collection.Collect(ctx, c, collection.Classes{N: int(l.N)}, nil, keeper, rank, cmp.Compare)
	return &Clusters{found, l, scores}, err
}

// Collect returns the clusters of documents with the same keeper, whose scores with it are given.
func (l *Listing) Collect(ctx context.Context, keeper []uint32, scores []float64) (*Clusters, error) {
	rank := func(n uint32) (uint32, error) { return l.rankOf(n), nil }
	found, err := collection.Collect(ctx, &collection.Collection{}, collection.Classes{N: int(l.N)}, nil, keeper, rank, cmp.Compare)
	return &Clusters{found, l, scores}, err
}

// A Member is a document of a cluster.
type Member struct {
	Cluster int
	Keep    bool
	N       uint32
	Match   float64 // with the keeper, like the match of a pair
}

// All yields all members.
func (c *Clusters) All(ctx context.Context) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		var members []collection.Member[uint32]
		for number := range c.Len() {
			var err error
			if members, err = c.Append(ctx, members[:0], number); err != nil {
				yield(Member{}, cmp.Or(context.Cause(ctx), err))
				return
			}
			for i, m := range members {
				if i%4096 == 0 && ctx.Err() != nil {
					yield(Member{}, context.Cause(ctx))
					return
				}
				of := Member{Cluster: number + 1, Keep: i == 0, N: m.Item}
				if c.scores != nil {
					of.Match = c.scores[m.Item]
				} else {
					of.Match = -float64(c.l.Distance(m.Item, members[0].Item))
				}
				if !yield(of, nil) {
					return
				}
			}
		}
	}
}
