package cluster

import (
	"bytes"
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/selfjoin"
)

// Options say how clusters are formed, as engine.ClusterOptions does.
type Options struct {
	Components bool                       // not star clusters, but connected components
	Before     func(a, b view.Entry) bool // nil for the order of writing
	Progress   func(view.Progress)        // may be nil
}

// A clustering is the outcome of clustering a join set.
type clustering struct {
	*joinSet
	*collection.Clusters[[]byte]                   // by ID
	best                         []uint32          // for each group, the preferred one of its items
	lone                         map[uint32]string // of each group that is a document in an allowed pair, its ID
	scores                       []float64         // where texts decide: of each group with its keeper
}

// EachMember calls fn for the members of all clusters of two or more visible documents, the largest
// cluster, number 1, first, in each the keeper first, then by ID, until it returns false.
func EachMember(ctx context.Context, v *view.View, by view.Criterion, o Options, fn func(cluster int, keep bool, m view.Match) bool) error {
	c, err := newClustering(ctx, v, by, o)
	if err != nil {
		return err
	}
	var members []collection.Member[[]byte]
	var matches []view.Match // the keeper's first
	for number := range c.Len() {
		err := v.Safely(ctx, func() (err error) {
			members, err = c.Append(ctx, members[:0], number)
			matches = matches[:0]
			for i := range members {
				matches = append(matches, c.matchOf(&members[i]))
			}
			return err
		})
		if err != nil {
			return err
		}
		for i, m := range matches {
			if !fn(number+1, i == 0, m) {
				return nil
			}
		}
	}
	return nil
}

// CountClusters returns how many clusters there are.
func CountClusters(ctx context.Context, v *view.View, by view.Criterion, o Options) (int64, error) {
	c, err := newClustering(ctx, v, by, o)
	if err != nil {
		return 0, err
	}
	return int64(c.Len()), nil
}

// newClustering forms the clusters of the visible documents.
func newClustering(ctx context.Context, v *view.View, by view.Criterion, o Options) (c *clustering, err error) {
	err = joined(ctx, v, by, o.Progress, func(j *joinSet) error {
		c = &clustering{joinSet: j}
		if err := c.setApart(ctx); err != nil {
			return err
		}
		order, err := c.preferred(ctx, o.Before)
		if err != nil {
			return err
		}
		items := c.collection(ctx)
		by := &collection.Clustering{Collection: items, Components: o.Components, Order: order, Apart: c.keepsApart(), Near: c.prints}
		keeper, scores, err := by.Keepers(ctx)
		if err != nil {
			return err
		}
		c.scores = scores
		c.Clusters, err = collection.Collect(ctx, items, c.groups(), c.best, keeper,
			func(item uint32) ([]byte, error) { return c.place(item).ID() }, bytes.Compare)
		return err
	})
	return c, err
}

// prints returns the fingerprints of groups, in an order.
func (c *clustering) prints(order []uint32) *collection.Prints {
	p := &collection.Prints{Items: c.classes.N, Order: order, Codes: c.fps}
	if c.several == nil {
		p.Docs.Codes = order
		return p
	}
	p.Docs = selfjoin.Documents{Ends: make([]uint32, 0, len(order))}
	for _, g := range order {
		p.Docs.Codes = append(p.Docs.Codes, c.several.Of(g)...)
		p.Docs.Ends = append(p.Docs.Ends, uint32(len(p.Docs.Codes)))
	}
	return p
}

// matchOf returns how a member compares with its keeper.
func (c *clustering) matchOf(m *collection.Member[[]byte]) (match view.Match) {
	switch {
	case c.by.Near():
		match.Distance = c.distance(m.Unit, m.Keeper)
	case c.scores != nil:
		match = c.match(m.Unit, m.Keeper, c.scores[m.Unit])
	default:
		match = c.match(m.Unit, m.Keeper, 0)
	}
	match.ID = string(m.Key)
	return match
}
