package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/jaccardjoin"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// sketchKeepers is keepers by score. No pair is kept.
func (c *clustering) sketchKeepers(ctx context.Context, order []uint32, by view.Criterion, o *Options) ([]uint32, error) {
	if !o.Components {
		return c.sketchStars(ctx, order, by, o)
	}
	keeper, err := c.sketchComponents(ctx, order, by, o)
	if err == nil && by.Verified {
		err = c.scoreMembers(ctx, keeper, o)
	}
	return keeper, err
}

// sketchStars takes the documents in order of preference: each joins the most similar keeper so
// far, or becomes one.
func (c *clustering) sketchStars(ctx context.Context, order []uint32, by view.Criterion, o *Options) ([]uint32, error) {
	sets, number := make([]uint32, len(order)), make([]uint32, len(order)) // by place in the order; of a set, by its first item
	for at, f := range order {
		if first := c.sets[f]; number[first] == 0 {
			number[first] = uint32(at) + 1
		}
	}
	for at, f := range order {
		sets[at] = number[c.sets[f]] - 1
	}
	so := jaccardjoin.StarOptions{Options: jaccardjoin.Options{Progress: progressOf(len(order), o.Progress)}, Sets: sets}
	so.Accept = func(a, b uint32, score minhash.Score) bool {
		return (!by.Verified || mayMatch(by, score)) && !c.apart(order[a], order[b])
	}
	if by.Verified {
		so.Least = by.T
		so.Verify = func(pairs []jaccardjoin.Pair) error { return c.verifyIn(ctx, order, pairs, o.Progress) }
	}
	stars, err := jaccardjoin.Stars(ctx, c.sketchesIn(order), c.estimates(by), so)
	if err != nil {
		return nil, err
	}
	keeper := number // no longer needed
	if by.Verified {
		c.scores = make([]float64, len(order))
	}
	for at, f := range order {
		keeper[f] = order[stars.Keeper[at]]
		if by.Verified {
			c.scores[f] = stars.Score[at]
		}
	}
	return keeper, nil
}

// verifyIn replaces the scores of pairs of places in an order by those of the texts.
func (c *clustering) verifyIn(ctx context.Context, order []uint32, pairs []jaccardjoin.Pair, progress func(view.Progress)) error {
	c.batch = c.batch[:0]
	for at, p := range pairs {
		c.batch = append(c.batch, sketchPair{a: order[p.I], b: order[p.J], at: uint32(at)})
	}
	if err := c.texts.verify(ctx, c.batch, progress); err != nil {
		return err
	}
	for _, p := range c.batch {
		pairs[p.at].Score = p.score.Score
	}
	return nil
}

// sketchComponents joins what matches. Star clusters are formed first: so the documents of a crowd
// are connected by as many pairs as there are documents, and only pairs of different stars are
// looked for. Where texts decide, one of these is verified only if nothing else has connected it by
// then.
func (c *clustering) sketchComponents(ctx context.Context, order []uint32, by view.Criterion, o *Options) ([]uint32, error) {
	star, err := c.sketchStars(ctx, order, by, o)
	if err != nil {
		return nil, err
	}
	x := &connecting{
		clustering: c, ctx: ctx, t: by.T, progress: o.Progress, forest: selfjoin.NewForest(c.groups()), firsts: c.distinct(),
	}
	for i, first := range c.sets {
		x.forest.Union(first, uint32(i))
		x.forest.Union(star[i], uint32(i))
	}
	x.publish()
	jo := jaccardjoin.Options{Progress: progressOf(len(x.firsts), o.Progress), Known: func() []uint32 { return *x.known.Load() }}
	err = jaccardjoin.Pairs(ctx, c.sketchesIn(x.firsts), c.estimates(by), jo, func(a, b uint32, score minhash.Score) bool {
		p := sketchPair{a: x.firsts[a], b: x.firsts[b], score: score}
		if c.apart(p.a, p.b) {
			return true
		}
		if by.Verified {
			return !mayMatch(by, score) || x.add(p)
		}
		x.forest.Union(p.a, p.b)
		if x.since++; x.since > publishEvery+len(x.firsts) {
			x.publish()
		}
		return true
	})
	if err == nil {
		x.settle()
	}
	if err := errors.Join(err, x.failed); err != nil {
		return nil, err
	}
	return c.keepersOf(x.forest.Labels(), order), nil
}

// publishEvery is how many pairs are taken at least before it is worthwhile to tell the join what
// is connected by now.
const publishEvery = 1 << 12

// connecting is a search for components.
type connecting struct {
	*clustering
	ctx      context.Context
	t        float64
	progress func(view.Progress)
	forest   *selfjoin.Forest
	firsts   []uint32                 // what is joined
	known    atomic.Pointer[[]uint32] // the component of each of firsts
	since    int                      // pairs taken since it was found out
	pending  []sketchPair             // may connect what is not connected; where texts decide
	failed   error
}

// publish lets the join know what is connected.
func (x *connecting) publish() {
	known := make([]uint32, len(x.firsts))
	for n, i := range x.firsts {
		known[n] = x.forest.Find(i)
	}
	x.known.Store(&known)
	x.since = 0
}

// add takes a pair, and returns false if the search has failed.
func (x *connecting) add(p sketchPair) bool {
	if x.forest.Find(p.a) == x.forest.Find(p.b) {
		return true
	}
	if x.pending = append(x.pending, p); len(x.pending) >= verifyBatch {
		x.settle()
		x.publish()
	}
	return x.failed == nil
}

// settle verifies what is pending: of each item the pair with the highest estimate first, then, of
// those pairs that are still not connected, two of each item, then four.
func (x *connecting) settle() {
	slices.SortFunc(x.pending, func(p, q sketchPair) int {
		return cmp.Or(cmp.Compare(p.b, q.b), cmp.Compare(q.score.Score, p.score.Score), cmp.Compare(p.a, q.a))
	})
	for most := 1; len(x.pending) > 0 && x.failed == nil; most *= 2 {
		x.batch = x.batch[:0]
		left := x.pending[:0]
		of, n := uint32(0), 0 // the item, and how many of its pairs are taken
		for _, p := range x.pending {
			if p.b != of {
				of, n = p.b, 0
			}
			switch {
			case x.forest.Find(p.a) == x.forest.Find(p.b):
			case n < most:
				n++
				x.batch = append(x.batch, p)
			default:
				left = append(left, p)
			}
		}
		x.pending = left
		if x.failed = x.texts.verify(x.ctx, x.batch, x.progress); x.failed != nil {
			return
		}
		for _, p := range x.batch {
			if p.score.Score >= x.t {
				x.forest.Union(p.a, p.b)
			}
		}
	}
}

// scoreMembers computes the scores of members and keepers from the texts.
func (c *clustering) scoreMembers(ctx context.Context, keeper []uint32, o *Options) error {
	c.scores = make([]float64, len(keeper))
	c.batch = c.batch[:0]
	flush := func() error {
		err := c.texts.verify(ctx, c.batch, o.Progress)
		for _, p := range c.batch {
			c.scores[p.at] = p.score.Score
		}
		c.batch = c.batch[:0]
		return err
	}
	for f, k := range keeper {
		if c.scores[f] = 1; c.sets[f] == c.sets[k] {
			continue
		}
		if c.batch = append(c.batch, sketchPair{a: k, b: uint32(f), at: uint32(f)}); len(c.batch) == verifyBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
