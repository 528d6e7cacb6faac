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
	ids, err := c.locsOf(allowed)
	if err != nil {
		return err
	}
	c.lone = map[uint32]string{}
	switch {
	case c.several != nil:
		for i := range uint32(c.items) {
			if id, ok := ids[c.loc(i)]; ok {
				c.lone[i] = id
			}
		}
	case c.sets != nil:
		c.setSketchesApart(ids)
	default:
		c.setFingerprintsApart(ids)
	}
	return ctx.Err()
}

// locsOf returns the IDs of the visible documents that are in allowed pairs, by loc.
func (j *joinSet) locsOf(allowed *view.AllowedPairs) (map[uint64]string, error) {
	ids, allIDs := map[uint64]string{}, allowed.IDs()
	for i, m := range j.v.Mems {
		for at, d := range m.Docs {
			if allowed.Involves(string(d.ID)) && j.v.MemAlive(d) {
				ids[j.memLoc(i, uint32(at))] = string(d.ID)
			}
		}
	}
	for i := range j.v.Version.Parts {
		p := &j.v.Version.Parts[i]
		for _, id := range allIDs {
			doc, ok, err := p.Lookup([]byte(id))
			if err == nil && ok {
				ok, err = j.v.Alive(p, doc)
			}
			if err != nil {
				return nil, err
			}
			if ok {
				ids[uint64(i)<<32|uint64(doc)] = id
			}
		}
	}
	return ids, nil
}

// setSketchesApart takes the items at the locs given out of their sets. Each item is a group
// already.
func (c *clustering) setSketchesApart(ids map[uint64]string) {
	for i := range uint32(c.items) {
		if id, ok := ids[c.loc(i)]; ok {
			c.lone[i] = id
		}
	}
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

// setFingerprintsApart makes groups of the items at the locs given, after those of the same
// fingerprint. Groups have no longer distinct fingerprints then.
func (c *clustering) setFingerprintsApart(ids map[uint64]string) {
	old := *c.joinSet
	locs, first := make([]uint64, 0, old.items), make([]uint32, 0, old.groups()+1)
	fps := make(selfjoin.Columns, len(old.fps))
	group := func(g int, members ...uint64) {
		if len(members) > 0 {
			first, locs = append(first, uint32(len(locs))), append(locs, members...)
			appendRow(fps, old.fps, g)
		}
	}
	var rest, lone []uint64
	for g := range old.groups() {
		rest, lone = rest[:0], lone[:0]
		lo, hi := old.span(uint32(g))
		for i := lo; i < hi; i++ {
			if loc := old.loc(i); ids[loc] != "" {
				lone = append(lone, loc)
			} else {
				rest = append(rest, loc)
			}
		}
		group(g, rest...)
		for _, loc := range lone {
			c.lone[uint32(len(first))] = ids[loc]
			group(g, loc)
		}
	}
	c.locs, c.fps, c.first = locs, fps, append(first, uint32(len(locs)))
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

// distinctFingerprints returns the fingerprints of all groups, each once, and the numbers of a
// group's among them; prints is nil if each group has the one of its number.
func (c *clustering) distinctFingerprints() (fps selfjoin.Columns, prints func(g uint32) []uint32) {
	if c.several != nil {
		return c.fps, c.several.Of
	}
	if len(c.lone) == 0 {
		return c.fps, nil
	}
	fps, at := make(selfjoin.Columns, len(c.fps)), make([]uint32, c.fps.Len())
	for g := range at {
		if g == 0 || c.fps.Compare(uint32(g), uint32(g-1)) != 0 {
			appendRow(fps, c.fps, g)
		}
		at[g] = uint32(fps.Len() - 1)
	}
	return fps, func(g uint32) []uint32 { return at[g : g+1] }
}

func appendRow(dst, src selfjoin.Columns, i int) {
	for w, column := range src {
		dst[w] = append(dst[w], column[i])
	}
}

// keepApart changes the keepers of star clusters, which were formed as if no pair were allowed, to
// what they are with those pairs kept apart. Only components of matching documents in which a
// document had joined one that it is to be kept apart from are changed. In these each document is
// compared with every keeper.
func (c *clustering) keepApart(ctx context.Context, keeper, order []uint32, k int, jo selfjoin.Options) error {
	var joined []uint32
	for f := range c.lone {
		if c.apart(f, keeper[f]) {
			joined = append(joined, f)
		}
	}
	if len(joined) == 0 {
		return nil
	}
	label, err := c.components(ctx, k, jo)
	if err != nil {
		return err
	}
	keepers := map[uint32][]uint32{} // of the components concerned, in order
	for _, f := range joined {
		keepers[label[f]] = nil
	}
	for n, f := range order {
		l := label[f]
		so, concerned := keepers[l]
		if !concerned {
			continue
		}
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		best, least := f, k+1
		for _, q := range so {
			if d := c.compare(f, q).Distance; d < least && !c.apart(f, q) {
				best, least = q, d
			}
		}
		if keeper[f] = best; best == f {
			keepers[l] = append(so, f)
		}
	}
	return nil
}

// componentsApart returns labels of the connected components of groups, without the edges of
// allowed pairs.
func (c *clustering) componentsApart(ctx context.Context, k int, jo selfjoin.Options) ([]uint32, error) {
	fps, prints := c.distinctFingerprints()
	groups := make([][]uint32, fps.Len()) // of each fingerprint
	for g := range uint32(c.groups()) {
		for _, f := range prints(g) {
			groups[f] = append(groups[f], g)
		}
	}
	forest := selfjoin.NewForest(c.groups())
	union := func(some, others []uint32) {
		for _, f := range some {
			for _, g := range others {
				if !c.apart(f, g) {
					forest.Union(f, g)
				}
			}
		}
	}
	for _, same := range groups {
		union(same, same)
	}
	err := selfjoin.Pairs(ctx, fps, k, jo, func(x, y uint32, _ int) bool {
		union(groups[x], groups[y])
		return true
	})
	if err != nil {
		return nil, err
	}
	return forest.Labels(), nil
}
