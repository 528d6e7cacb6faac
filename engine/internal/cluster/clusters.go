package cluster

import (
	"bytes"
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/selfjoin"
)

// Options are the options of clusters, as in engine.ClusterOptions.
type Options struct {
	Components bool                       // connected components instead of star clusters
	Before     func(a, b view.Entry) bool // order of preference; nil means the order of writing
	Progress   func(view.Progress)        // may be nil
}

// A clustering is the result of clustering a join set.
type clustering struct {
	*joinSet
	*collection.Clusters[[]byte]                   // by ID
	best                         []uint32          // by group: the preferred item
	lone                         map[uint32]string // by group with a document of an allowed pair: the document's ID
	scores                       []float64         // if texts decide, by group: score with its keeper
}

// Count returns the number of clusters of two or more visible documents.
func Count(ctx context.Context, v *view.View, by view.Criterion, o Options) (int64, error) {
	c, err := newClustering(ctx, v, by, o)
	if err != nil {
		return 0, err
	}
	return int64(c.Len()), nil
}

// EachMember calls fn for the members of all clusters of two or more visible documents, until it
// returns false. The largest cluster comes first, as number 1; in each cluster the keeper comes
// first, then the others by ID.
func EachMember(ctx context.Context, v *view.View, by view.Criterion, o Options, fn func(cluster int, keep bool, m view.Match) bool) error {
	c, err := newClustering(ctx, v, by, o)
	if err != nil {
		return err
	}
	var members []collection.Member[[]byte]
	var matches []view.Match // of a part of the members: a cluster may have very many
	for number := range c.Len() {
		for from := 0; from == 0 || from < len(members); from += matchesAtOnce {
			err := v.Safely(ctx, func() (err error) {
				if from == 0 {
					if members, err = c.Append(ctx, members[:0], number); err != nil {
						return err
					}
				}
				matches = matches[:0]
				for i := from; i < min(from+matchesAtOnce, len(members)); i++ {
					matches = append(matches, c.matchOf(&members[i], members[0].Unit))
				}
				return ctx.Err()
			})
			if err != nil {
				return err
			}
			for i, m := range matches {
				if !fn(number+1, from+i == 0, m) {
					return nil
				}
			}
		}
	}
	return nil
}

// matchesAtOnce is the number of members whose matches are held.
const matchesAtOnce = 4096

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
		by := &collection.Clustering{Collection: items, Components: o.Components, Order: order, Apart: c.keepsApart(), Near: c.fingerprints}
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

// fingerprints returns the fingerprints of groups in an order.
func (c *clustering) fingerprints(order []uint32) *collection.Fingerprints {
	p := &collection.Fingerprints{Items: c.classes.N, Order: order, Codes: c.fps}
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

// matchOf returns the match of a member with the unit of its keeper.
func (c *clustering) matchOf(m *collection.Member[[]byte], keeper uint32) (match view.Match) {
	switch {
	case c.by.Near():
		match.Distance = c.distance(m.Unit, keeper)
	case c.scores != nil:
		match = c.match(m.Unit, keeper, c.scores[m.Unit])
	default:
		match = c.match(m.Unit, keeper, 0)
	}
	match.ID = string(m.Key)
	return match
}
