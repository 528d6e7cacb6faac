package cluster

import (
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/selfjoin"
)

// Clusters keep allowed pairs apart: neither document of one joins the other. Documents that are in
// such a pair are groups and sets of their own, so that what holds for one of them does not for
// others of the same fingerprint or shingles.

// setApart makes groups and sets of their own of the documents that are in allowed pairs.
func (c *clustering) setApart(ctx context.Context) error {
	allowed := c.v.Allowed
	if allowed.Empty() {
		return nil
	}
	ids := map[view.Place]string{}
	for _, id := range allowed.IDs() {
		p, ok, err := c.v.Find([]byte(id))
		if err != nil {
			return err
		}
		if ok {
			ids[p] = id
		}
	}
	c.lone = map[uint32]string{}
	if c.several == nil && c.sets == nil {
		c.setFingerprintsApart(ids)
		return ctx.Err()
	}
	for i := range uint32(c.items) { // each is a group already
		if id, ok := ids[c.place(i)]; ok {
			c.lone[i] = id
		}
	}
	if c.sets != nil {
		c.setSetsApart()
	}
	return ctx.Err()
}

// setSetsApart takes the items in allowed pairs out of their sets.
func (c *clustering) setSetsApart() {
	firsts := map[uint32]uint32{} // of sets whose first item is taken out: the next one
	for i, first := range c.sets {
		if _, ok := c.lone[uint32(i)]; ok {
			c.sets[i] = uint32(i)
		} else if _, ok := c.lone[first]; ok {
			if _, ok := firsts[first]; !ok {
				firsts[first] = uint32(i)
			}
			c.sets[i] = firsts[first]
		}
	}
	c.linkSets()
}

// setFingerprintsApart makes groups of the items whose IDs are given, after those of the same
// fingerprint.
func (c *clustering) setFingerprintsApart(ids map[view.Place]string) {
	locs, first := make([]uint64, 0, c.items), make([]uint32, 0, c.groups()+1)
	codes := make([]uint32, 0, c.groups())
	group := func(g uint32, members ...uint64) {
		if len(members) > 0 {
			first, locs, codes = append(first, uint32(len(locs))), append(locs, members...), append(codes, g)
		}
	}
	var rest []uint64
	var lone []uint32
	for g := range uint32(c.groups()) {
		rest, lone = rest[:0], lone[:0]
		for i, hi := c.span(g); i < hi; i++ {
			if _, ok := ids[c.place(i)]; ok {
				lone = append(lone, i)
			} else {
				rest = append(rest, c.loc(i))
			}
		}
		group(g, rest...)
		for _, i := range lone {
			c.lone[uint32(len(first))] = ids[c.place(i)]
			group(g, c.loc(i))
		}
	}
	c.locs, c.first, c.several = locs, append(first, uint32(len(locs))), &selfjoin.Documents{Codes: codes}
}

// apart reports whether groups f and g are an allowed pair.
func (c *clustering) apart(f, g uint32) bool {
	if len(c.lone) == 0 {
		return false
	}
	a, ok := c.lone[f]
	if !ok {
		return false
	}
	b, ok := c.lone[g]
	return ok && c.v.Allowed.Has(a, b)
}

// keepApart changes the keepers of star clusters, which were formed as if no pair were allowed, to
// what they are with those pairs kept apart.
func (c *clustering) keepApart(ctx context.Context, docs selfjoin.Documents, keeper, order []uint32, k int, jo selfjoin.Options) error {
	if len(c.lone) == 0 {
		return nil
	}
	by := selfjoin.Apart{
		Involved: func(f uint32) bool { return c.lone[f] != "" },
		Accept:   func(f, g uint32) bool { return !c.apart(f, g) },
		Distance: c.distance,
	}
	return by.Mend(ctx, c.fps, docs, order, k, 0, jo, keeper, make([]uint16, len(keeper)))
}

// componentsApart is selfjoin.Components of all groups, without the edges of allowed pairs.
func (c *clustering) componentsApart(ctx context.Context, fps selfjoin.Columns, docs selfjoin.Documents, k int, jo selfjoin.Options) ([]uint32, error) {
	start, having := docs.Having(fps.Len())
	groups := func(x uint32) []uint32 { return having[start[x]:start[x+1]] }
	forest := selfjoin.NewForest(c.groups())
	union := func(x, y uint32, _ int) bool {
		for _, f := range groups(x) {
			for _, g := range groups(y) {
				if !c.apart(f, g) {
					forest.Union(f, g)
				}
			}
		}
		return true
	}
	for x := range uint32(fps.Len()) {
		union(x, x, 0)
	}
	if err := selfjoin.Pairs(ctx, fps, k, jo, union); err != nil {
		return nil, err
	}
	return forest.Labels(), nil
}
