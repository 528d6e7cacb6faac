package cluster

import (
	"cmp"
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
)

// A member is a document of a cluster: its ID, and how it compares with the keeper.
type member struct {
	keep bool
	view.Match
}

// EachMember calls fn for the members of all clusters of two or more visible documents, the largest
// cluster, number 1, first, in each the keeper first, then by ID, until it returns false.
func EachMember(ctx context.Context, v *view.View, by view.Criterion, o Options, fn func(cluster int, keep bool, m view.Match) bool) error {
	c, err := newClustering(ctx, v, by, o)
	if err != nil {
		return err
	}
	for number, cl := range c.clusters {
		var members []member
		err := v.Safely(ctx, func() (err error) {
			members, err = c.members(ctx, cl)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range members {
			if !fn(number+1, m.keep, m.Match) {
				return nil
			}
		}
	}
	return nil
}

// newClustering forms the clusters of the visible documents.
func newClustering(ctx context.Context, v *view.View, by view.Criterion, o Options) (c *clustering, err error) {
	err = joined(ctx, v, by, func(j *joinSet) error {
		c = &clustering{joinSet: j}
		if err := c.setApart(ctx); err != nil {
			return err
		}
		order, err := c.preferred(ctx, o.Before)
		if err != nil {
			return err
		}
		var keeper []uint32
		if by.Near() {
			keeper, err = c.keepers(ctx, order, by.K, &o)
		} else {
			keeper, err = c.setKeepers(ctx, order, by, &o)
		}
		if err != nil {
			return err
		}
		sorting(o.Progress)
		return c.collect(ctx, keeper)
	})
	return c, err
}

// keepers returns the keeper of each group, given the order in which they are preferred, by
// distance.
func (c *clustering) keepers(ctx context.Context, order []uint32, k int, o *Options) ([]uint32, error) {
	jo := selfjoin.Options{Progress: progressOf(c.groups(), o.Progress)}
	if !o.Components {
		docs, keeper := c.documents(order), make([]uint32, c.groups())
		stars, err := selfjoin.Stars(ctx, c.fps, docs, k, jo)
		if err != nil {
			return nil, err
		}
		for at, f := range order {
			keeper[f] = order[stars.Keeper[at]]
		}
		return keeper, c.keepApart(ctx, docs, keeper, order, k, jo)
	}
	all := make([]uint32, c.groups())
	for g := range all {
		all[g] = uint32(g)
	}
	components := selfjoin.Components
	if len(c.lone) > 0 {
		components = c.componentsApart
	}
	label, err := components(ctx, c.fps, c.documents(all), k, jo)
	if err != nil {
		return nil, err
	}
	return selfjoin.Preferred(label, order), nil
}

// documents returns groups in an order as a join takes them.
func (c *clustering) documents(order []uint32) selfjoin.Documents {
	if c.several == nil {
		return selfjoin.Documents{Codes: order}
	}
	docs := selfjoin.Documents{Ends: make([]uint32, 0, len(order))}
	for _, g := range order {
		docs.Codes = append(docs.Codes, c.several.Of(g)...)
		docs.Ends = append(docs.Ends, uint32(len(docs.Codes)))
	}
	return docs
}

// compare returns how group f compares with its keeper.
func (c *clustering) compare(f, keeper uint32) view.Match {
	if c.scores != nil {
		return view.Match{Score: c.scores[f], Exact: true}
	}
	return c.match(f, keeper)
}

// members returns the documents of a cluster in their order.
func (c *clustering) members(ctx context.Context, cl starCluster) ([]member, error) {
	members := make([]member, 0, cl.size)
	for n, f := range c.byKeeper[cl.from:cl.to] {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		match := c.compare(f, cl.keeper)
		lo, hi := c.span(f)
		for i := lo; i < hi; i++ {
			id, err := c.place(i).ID()
			if err != nil {
				return nil, err
			}
			match.ID = string(id)
			members = append(members, member{i == c.best[cl.keeper], match})
		}
	}
	return members, ordered.InPlace(ctx, members, func(a, b member) int {
		if a.keep != b.keep {
			if a.keep {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
}
