package cluster

import (
	"context"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/jaccardjoin"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// sketchKeepers is keepers by estimated score. No pair is kept.
func (c *clustering) sketchKeepers(ctx context.Context, order []uint32, by view.Criterion, o *Options) ([]uint32, error) {
	if !o.Components {
		return c.sketchStars(ctx, order, by, o)
	}
	return c.sketchComponents(ctx, order, by, o)
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
	so.Accept = func(a, b uint32) bool { return !c.apart(order[a], order[b]) }
	stars, err := jaccardjoin.Stars(ctx, c.sketchesIn(order), by.T, so)
	if err != nil {
		return nil, err
	}
	keeper := number // no longer needed
	for at, f := range order {
		keeper[f] = order[stars.Keeper[at]]
	}
	return keeper, nil
}

// sketchComponents joins what matches. Star clusters are formed first: so the documents of a crowd
// are connected by as many pairs as there are documents, and only pairs of different stars are
// looked for.
func (c *clustering) sketchComponents(ctx context.Context, order []uint32, by view.Criterion, o *Options) ([]uint32, error) {
	star, err := c.sketchStars(ctx, order, by, o)
	if err != nil {
		return nil, err
	}
	forest, firsts := selfjoin.NewForest(c.groups()), c.distinct()
	for i, first := range c.sets {
		forest.Union(first, uint32(i))
		forest.Union(star[i], uint32(i))
	}
	var known atomic.Pointer[[]uint32] // the component of each of firsts
	since := 0                         // pairs taken since it was found out
	publish := func() {
		labels := make([]uint32, len(firsts))
		for n, i := range firsts {
			labels[n] = forest.Find(i)
		}
		known.Store(&labels)
		since = 0
	}
	publish()
	jo := jaccardjoin.Options{Progress: progressOf(len(firsts), o.Progress), Known: func() []uint32 { return *known.Load() }}
	err = jaccardjoin.Pairs(ctx, c.sketchesIn(firsts), by.T, jo, func(a, b uint32, _ minhash.Score) bool {
		if c.apart(firsts[a], firsts[b]) {
			return true
		}
		forest.Union(firsts[a], firsts[b])
		if since++; since > publishEvery+len(firsts) {
			publish()
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return c.keepersOf(forest.Labels(), order), nil
}

// publishEvery is how many pairs are taken at least before it is worthwhile to tell the join what
// is connected by now.
const publishEvery = 1 << 12
