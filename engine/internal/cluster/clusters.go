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
	err = v.Safely(ctx, func() (err error) {
		c, err = cluster(ctx, v, by, &o)
		return err
	})
	return c, err
}

func cluster(ctx context.Context, v *view.View, by view.Criterion, o *Options) (*clustering, error) {
	if err := v.CheckCriterion(by); err != nil {
		return nil, err
	}
	j, err := newJoinSet(ctx, v, by)
	if err != nil {
		return nil, err
	}
	c := &clustering{joinSet: j}
	if err := c.setApart(ctx); err != nil {
		return nil, err
	}
	order, err := c.preferred(ctx, o.Before)
	if err != nil {
		return nil, err
	}
	var keeper []uint32
	if by.Near() {
		keeper, err = c.keepers(ctx, order, by.K, o)
	} else {
		keeper, err = c.setKeepers(ctx, order, by, o)
	}
	if err != nil {
		return nil, err
	}
	sorting(o.Progress)
	return c, c.collect(ctx, keeper)
}

// keepers returns the keeper of each group, given the order in which they are preferred, by
// distance.
func (c *clustering) keepers(ctx context.Context, order []uint32, k int, o *Options) ([]uint32, error) {
	jo := selfjoin.Options{Progress: progressOf(c.groups(), o.Progress)}
	keeper := make([]uint32, c.groups())
	if !o.Components {
		fps, prints := c.distinctFingerprints()
		stars, err := selfjoin.Stars(ctx, fps, documentsOf(order, prints), k, jo)
		if err != nil {
			return nil, err
		}
		for at, f := range order {
			keeper[f] = order[stars.Keeper[at]]
		}
		return keeper, c.keepApart(ctx, keeper, order, k, jo)
	}
	components := c.components
	if len(c.lone) > 0 {
		components = c.componentsApart
	}
	label, err := components(ctx, k, jo)
	if err != nil {
		return nil, err
	}
	return c.keepersOf(label, order), nil
}

// documentsOf returns groups in an order as a join takes them: with nil prints each has the
// fingerprint of its number.
func documentsOf(order []uint32, prints func(g uint32) []uint32) selfjoin.Documents {
	if prints == nil {
		return selfjoin.Documents{Codes: order}
	}
	docs := selfjoin.Documents{Ends: make([]uint32, 0, len(order))}
	for _, g := range order {
		docs.Codes = append(docs.Codes, prints(g)...)
		docs.Ends = append(docs.Ends, uint32(len(docs.Codes)))
	}
	return docs
}

// components returns labels of the connected components of groups.
func (c *clustering) components(ctx context.Context, k int, jo selfjoin.Options) ([]uint32, error) {
	fps, prints := c.distinctFingerprints()
	order := make([]uint32, c.groups())
	for g := range order {
		order[g] = uint32(g)
	}
	label, err := selfjoin.Components(ctx, fps, documentsOf(order, prints), k, jo)
	if err != nil || prints == nil {
		return label, err
	}
	of, first := make([]uint32, c.groups()), make([]uint32, fps.Len()) // the first group of a component + 1
	for g := range uint32(c.groups()) {
		l := &first[label[prints(g)[0]]]
		if *l == 0 {
			*l = g + 1
		}
		of[g] = *l - 1
	}
	return of, nil
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
