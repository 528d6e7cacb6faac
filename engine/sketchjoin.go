package engine

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/simdb/simdb/engine/internal/jaccardjoin"
	"github.com/simdb/simdb/engine/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// A sketchPair is two items and their score.
type sketchPair struct {
	a, b  uint32
	score minhash.Score
}

func (p *sketchPair) ends() (a, b *uint32) { return &p.a, &p.b }

// scored returns all pairs of items that match by the criterion, in no particular order.
func (j *joinSet) scored(ctx context.Context, stage string, by Criterion, progress func(Progress)) (pairs []sketchPair, err error) {
	t := by.t
	if by.verified {
		t = j.s.db.lowered(t)
	}
	all := jaccardjoin.Sketches{
		Len: len(j.sketches), Size: int(j.s.db.params.Sketch), At: func(i int) []uint32 { return j.sketches[i] },
	}
	o := jaccardjoin.Options{Progress: progressOf(stage, progress)}
	err = jaccardjoin.Pairs(ctx, all, t, o, func(a, b uint32, score minhash.Score) bool {
		if score.Score >= by.t || !score.Exact {
			pairs = append(pairs, sketchPair{a, b, score})
		}
		return true
	})
	if err == nil && by.verified {
		pairs, err = j.verify(ctx, pairs, by.t, progress)
	}
	return pairs, err
}

// sketchPairs returns all pairs that match by the criterion, in their order.
func (j *joinSet) sketchPairs(ctx context.Context, by Criterion, progress func(Progress)) (func(func(Pair) bool), error) {
	pairs, err := j.scored(ctx, "pairs", by, progress)
	if err != nil {
		return nil, err
	}
	ids, err := rankEnds(j, pairs, (*sketchPair).ends)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pairs, func(x, y sketchPair) int {
		return cmp.Or(cmp.Compare(y.score.Score, x.score.Score), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return func(yield func(Pair) bool) {
		for _, p := range pairs {
			b := string(ids[p.b])
			m := Match{ID: b, Score: p.score.Score, Error: p.score.Error, Exact: p.score.Exact}
			if !yield(Pair{A: string(ids[p.a]), B: b, Match: m}) {
				return
			}
		}
	}, ctx.Err()
}

// sketchKeepers is keepers by score.
func (c *clustering) sketchKeepers(ctx context.Context, order []uint32, by Criterion, o *ClusterOptions) ([]uint32, error) {
	pairs, err := c.scored(ctx, "clusters", by, o.Progress)
	if err != nil {
		return nil, err
	}
	if o.Mode == Components {
		f := selfjoin.NewForest(c.groups())
		for _, p := range pairs {
			f.Union(p.a, p.b)
		}
		return c.keepersOf(f.Labels(), order), nil
	}
	return c.sketchStars(pairs, order), nil
}

// sketchStars takes the documents in order of preference: each joins the most similar keeper so far, or becomes one.
func (c *clustering) sketchStars(pairs []sketchPair, order []uint32) []uint32 {
	start := make([]uint32, c.groups()+2) // the neighbours of f are near[start[f]:start[f+1]], once filled
	for _, p := range pairs {
		start[p.a+2]++
		start[p.b+2]++
	}
	for i := 2; i < len(start); i++ {
		start[i] += start[i-1]
	}
	type neighbour struct {
		f     uint32
		score float64
	}
	near := make([]neighbour, 2*len(pairs))
	for _, p := range pairs {
		near[start[p.a+1]], near[start[p.b+1]] = neighbour{p.b, p.score.Score}, neighbour{p.a, p.score.Score}
		start[p.a+1]++
		start[p.b+1]++
	}
	const none = math.MaxUint32
	rank := make([]uint32, c.groups()) // of the keepers, by preference
	keeper := make([]uint32, c.groups())
	for f := range rank {
		rank[f] = none
	}
	for at, f := range order {
		best := neighbour{none, 0}
		for _, n := range near[start[f]:start[f+1]] {
			if rank[n.f] != none && (n.score > best.score || n.score == best.score && rank[n.f] < rank[best.f]) {
				best = n
			}
		}
		if keeper[f] = best.f; best.f == none {
			keeper[f], rank[f] = f, uint32(at)
		}
	}
	return keeper
}
