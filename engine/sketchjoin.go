package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/simdb/simdb/engine/internal/jaccardjoin"
	"github.com/simdb/simdb/engine/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// A sketchPair is two items and their score.
type sketchPair struct {
	a, b  uint32
	at    uint32 // its place in a batch that is verified
	score minhash.Score
}

func (p *sketchPair) match(id string) Match {
	return Match{ID: id, Score: p.score.Score, Error: p.score.Error, Exact: p.score.Exact}
}

// verifyBatch is how many candidate pairs are held while their texts are compared.
const verifyBatch = 1 << 18

// eachScored calls fn for all pairs of items that match by the criterion, until it returns false. Items are joined in the order
// given (of their numbers if it is nil): of a pair, a comes before b in it. The sequence of pairs is that of jaccardjoin.Pairs.
func (j *joinSet) eachScored(ctx context.Context, stage string, by Criterion, order []uint32, progress func(Progress), fn func(*sketchPair) bool) error {
	item := func(i uint32) uint32 { return i }
	if order != nil {
		item = func(i uint32) uint32 { return order[i] }
	}
	all := jaccardjoin.Sketches{
		Len: len(j.sketches), Size: int(j.s.db.params.Sketch), At: func(i int) []uint32 { return j.sketches[item(uint32(i))] },
	}
	o := jaccardjoin.Options{Progress: progressOf(stage, progress)}
	if !by.verified {
		return jaccardjoin.Pairs(ctx, all, by.t, o, func(a, b uint32, score minhash.Score) bool {
			return fn(&sketchPair{a: item(a), b: item(b), score: score})
		})
	}
	var batch []sketchPair
	var failed error
	goOn := true
	flush := func() bool {
		if batch, failed = j.verify(ctx, batch, by.t, progress); failed != nil {
			return false
		}
		slices.SortFunc(batch, func(x, y sketchPair) int { return cmp.Compare(x.at, y.at) })
		for i := 0; goOn && i < len(batch); i++ {
			goOn = fn(&batch[i])
		}
		batch = batch[:0]
		return goOn
	}
	err := jaccardjoin.Pairs(ctx, all, j.s.db.lowered(by.t), o, func(a, b uint32, score minhash.Score) bool {
		if score.Score >= by.t || !score.Exact {
			batch = append(batch, sketchPair{a: item(a), b: item(b), at: uint32(len(batch)), score: score})
		}
		return len(batch) < verifyBatch || flush()
	})
	if err == nil && failed == nil && goOn {
		flush()
	}
	return errors.Join(err, failed)
}

// scored returns all pairs of items that match by the criterion, in no particular order.
func (j *joinSet) scored(ctx context.Context, stage string, by Criterion, progress func(Progress)) (pairs []sketchPair, err error) {
	most := j.s.db.most(sketchPairBytes)
	err = j.eachScored(ctx, stage, by, nil, progress, func(p *sketchPair) bool {
		pairs = append(pairs, *p)
		return len(pairs) <= most
	})
	if err == nil && len(pairs) > most {
		err = j.s.db.overBudget("pairs")
	}
	return pairs, err
}

// sketchPairs returns all pairs that match by the criterion, in their order.
func (j *joinSet) sketchPairs(ctx context.Context, by Criterion, progress func(Progress)) (func(func(Pair) bool), error) {
	pairs, err := j.scored(ctx, "pairs", by, progress)
	if err != nil {
		return nil, err
	}
	items := newItemSet(j.items)
	for i := range pairs {
		items.add(pairs[i].a)
		items.add(pairs[i].b)
	}
	ranks, err := j.rank(items)
	if err != nil {
		return nil, err
	}
	for i := range pairs {
		a, b := ranks.of(pairs[i].a), ranks.of(pairs[i].b)
		pairs[i].a, pairs[i].b = min(a, b), max(a, b)
	}
	slices.SortFunc(pairs, func(x, y sketchPair) int {
		return cmp.Or(cmp.Compare(y.score.Score, x.score.Score), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return func(yield func(Pair) bool) {
		for _, p := range pairs {
			a, b := ranks.ids[p.a], ranks.ids[p.b]
			if !yield(Pair{A: a, B: b, Match: p.match(b)}) {
				return
			}
		}
	}, ctx.Err()
}

// sketchKeepers is keepers by score. Pairs are taken as they are found, none is kept.
func (c *clustering) sketchKeepers(ctx context.Context, order []uint32, by Criterion, o *ClusterOptions) ([]uint32, error) {
	if o.Mode == Star {
		return c.sketchStars(ctx, order, by, o)
	}
	f := selfjoin.NewForest(c.groups())
	err := c.eachScored(ctx, "clusters", by, nil, o.Progress, func(p *sketchPair) bool {
		f.Union(p.a, p.b)
		return true
	})
	if err != nil {
		return nil, err
	}
	return c.keepersOf(f.Labels(), order), nil
}

// sketchStars takes the documents in order of preference: each joins the most similar keeper so far, or becomes one. The join
// finds the pairs of a document with preferred ones before its pairs with others, so whether the preferred one of a pair is a
// keeper is known when the pair is found.
func (c *clustering) sketchStars(ctx context.Context, order []uint32, by Criterion, o *ClusterOptions) ([]uint32, error) {
	const none = math.MaxUint32
	keeper, rank := make([]uint32, c.groups()), make([]uint32, c.groups())
	best := make([]float64, c.groups())
	for at, f := range order {
		keeper[f], rank[f] = none, uint32(at)
	}
	err := c.eachScored(ctx, "clusters", by, order, o.Progress, func(p *sketchPair) bool {
		have := keeper[p.b]
		if keeper[p.a] == none && (have == none || p.score.Score > best[p.b] || p.score.Score == best[p.b] && rank[p.a] < rank[have]) {
			keeper[p.b], best[p.b] = p.a, p.score.Score
		}
		return true
	})
	for f := range keeper {
		if keeper[f] == none {
			keeper[f] = uint32(f)
		}
	}
	return keeper, err
}
