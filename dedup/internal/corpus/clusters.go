package corpus

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
)

// Clusters are the clusters of two or more documents of a Listing.
type Clusters struct {
	l       *Listing
	by      Criterion
	keeper  []uint32  // of each document; one that is alone is its own
	match   []float64 // of each document and its keeper, as of a pair
	members []uint32  // of all clusters, those of a cluster together, in order
	sizes   []uint32  // of each keeper: documents of its cluster
}

// Clusters forms clusters: stars, in which every document joins the keeper before it that it is
// most similar to, or the components of documents that are connected by matches.
func (l *Listing) Clusters(ctx context.Context, by Criterion, components bool, o JoinOptions) (*Clusters, error) {
	c := &Clusters{l: l, by: by, match: make([]float64, l.N)}
	var err error
	switch {
	case components:
		err = c.components(ctx, o)
	case by.Sets:
		err = c.setStars(ctx, o)
	default:
		err = c.printStars(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	return c, c.collect(ctx, o)
}

// components forms components. The first document of each in the order of preference is its keeper.
func (c *Clusters) components(ctx context.Context, o JoinOptions) (err error) {
	switch {
	case c.l.Groups != nil:
		err = c.groupComponents(ctx, o)
	case c.by.Sets:
		err = c.setComponents(ctx, o)
	default:
		c.keeper, err = c.l.PrintComponents(ctx, c.by.K, o.prints(c.l.N))
	}
	if err != nil {
		return err
	}
	if c.l.Order != nil {
		c.keeper = selfjoin.Preferred(c.keeper, c.l.Order)
	}
	if c.by.Sets {
		c.match, err = c.l.Scores(ctx, c.keeper)
		return err
	}
	for n, k := range c.keeper {
		c.match[n] = -float64(c.l.Distance(uint32(n), k))
	}
	return nil
}

// setStars forms stars by sets.
func (c *Clusters) setStars(ctx context.Context, o JoinOptions) (err error) {
	so := o.sets(c.l.Judges(ctx, c.by.T))
	so.Accept, so.Order = c.l.accept(), c.l.Order
	if g := c.l.Groups; g != nil {
		if so.Same, err = c.l.Alike(ctx, func(n uint32) (uint32, bool) { return g.Of[n], true }); err != nil {
			return err
		}
	}
	stars, err := c.l.Sets.Stars(ctx, c.by.T, so)
	c.keeper, c.match = stars.Keeper, stars.Score
	return err
}

// printStars forms stars by fingerprints.
func (c *Clusters) printStars(ctx context.Context, o JoinOptions) (err error) {
	var distance []uint16
	order, g := slices.Clone(c.l.Order), c.l.Groups
	if g == nil {
		c.keeper, distance, err = c.l.PrintStars(ctx, order, c.by.K, 0, o.prints(c.l.N))
	} else {
		c.keeper, distance, err = c.l.PrintStarsApart(ctx, order, c.by.K, 0, g.Apart(selfjoin.Apart{
			Involved: func(uint32) bool { return true }, Accept: g.Accept, Group: func(n uint32) (uint32, bool) { return g.Of[n], true },
		}), o.prints(c.l.N))
	}
	for n, d := range distance {
		c.match[n] = -float64(d)
	}
	return err
}

// groupComponents connects the documents that match by Groups.
func (c *Clusters) groupComponents(ctx context.Context, o JoinOptions) error {
	forest := selfjoin.NewForest(int(c.l.N))
	err := c.l.classPairs(ctx, c.by, o, func(a, b []uint32, _ float64) bool {
		c.l.Groups.unite(forest, a, b)
		return ctx.Err() == nil
	})
	c.keeper = forest.Labels()
	return cmp.Or(err, ctx.Err())
}

// setComponents connects the documents of all pairs that match.
func (c *Clusters) setComponents(ctx context.Context, o JoinOptions) error {
	all, err := c.l.setClasses(ctx)
	if err != nil {
		return err
	}
	forest := selfjoin.NewForest(int(c.l.N))
	for class := range all.ends {
		for docs := all.of(uint32(class)); len(docs) > 1; docs = docs[1:] {
			forest.Union(docs[0], docs[1])
		}
	}
	so := o.sets(c.l.Judges(ctx, c.by.T))
	so.Order = all.firsts()
	slices.Sort(so.Order)
	err = c.l.Sets.Components(ctx, c.by.T, so, forest)
	c.keeper = forest.Labels()
	return err
}

// collect orders the members: those of the largest cluster first, of equally large ones by the ID
// of the keeper, in each the keeper first, then by ID.
func (c *Clusters) collect(ctx context.Context, o JoinOptions) error {
	o.Progress(engine.Progress{Stage: "sort"})
	c.sizes = make([]uint32, len(c.keeper))
	for _, k := range c.keeper {
		c.sizes[k]++
	}
	for n, k := range c.keeper {
		if c.sizes[k] > 1 {
			c.members = append(c.members, uint32(n))
		}
	}
	rank := c.l.rankOf
	return ordered.InPlace(ctx, c.members, func(a, b uint32) int {
		k, m := c.keeper[a], c.keeper[b]
		switch {
		case k != m:
			return cmp.Or(cmp.Compare(c.sizes[m], c.sizes[k]), cmp.Compare(rank(k), rank(m)))
		case a == k || b == k:
			return cmp.Compare(min(1, a^k), min(1, b^k))
		}
		return cmp.Compare(rank(a), rank(b))
	})
}

// Count returns how many clusters there are, and how many members they have in all.
func (c *Clusters) Count() (clusters, members int64) {
	for _, n := range c.members {
		if c.keeper[n] == n {
			clusters++
		}
	}
	return clusters, int64(len(c.members))
}

// A Member is a document of a cluster.
type Member struct {
	Cluster int
	Keep    bool
	N       uint32
	Match   float64 // with the keeper, as of a pair
}

// All yields all members.
func (c *Clusters) All(ctx context.Context) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		number := 0
		for i, n := range c.members {
			if i%4096 == 0 && ctx.Err() != nil {
				yield(Member{}, context.Cause(ctx))
				return
			}
			keep := c.keeper[n] == n
			if keep {
				number++
			}
			if !yield(Member{number, keep, n, c.match[n]}, nil) {
				return
			}
		}
	}
}
