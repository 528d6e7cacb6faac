package rulejoin

import (
	"context"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
)

// StarOptions are the options of stars.
type StarOptions struct {
	Order     []uint32               // documents in the order of preference; nil means by number
	Known     int                    // number of documents, the first in the order, that are keepers in any case
	OnlyKnown bool                   // documents join only these
	Accept    func(a, b uint32) bool // whether two documents that match may join; needs Options.Apart; or nil
}

// none is no document.
const none = ^uint32(0)

// neighbours are the edges of each class.
type neighbours struct {
	edges []edge
	first []uint32 // by class
	at    []uint32 // places in edges, grouped by class
}

func (c *Corpus) neighbours(edges []edge) *neighbours {
	x := &neighbours{edges: edges, first: make([]uint32, c.n+1), at: make([]uint32, 2*len(edges))}
	for _, e := range edges {
		x.first[e.a+1]++
		x.first[e.b+1]++
	}
	for i := range c.n {
		x.first[i+1] += x.first[i]
	}
	next := append([]uint32(nil), x.first...)
	for i, e := range edges {
		for _, class := range [2]uint32{e.a, e.b} {
			x.at[next[class]] = uint32(i)
			next[class]++
		}
	}
	return x
}

// Stars forms star clusters: each document in turn joins the keeper so far with the greatest score,
// the first of those with equal scores, or becomes a keeper. It returns the keeper of each document,
// and the score with it, which is 1 for a keeper.
//
// Of each class, at most the first document that became a keeper is ever joined: all documents of
// the class have the same score with any other, so the first one is preferred.
func (c *Corpus) Stars(ctx context.Context, s StarOptions, o JoinOptions) (keeper []uint32, scores []float64, err error) {
	self, err := c.selfScores(ctx)
	if err != nil {
		return nil, nil, err
	}
	edges, err := c.all(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	near := c.neighbours(edges)
	order := s.Order
	if order == nil {
		order = ordered.Numbers(c.N)
	}
	keeper, scores = ordered.Numbers(c.N), make([]float64, c.N)
	keeperOf, place := make([]uint32, c.n), make([]uint32, c.N)
	for i := range keeperOf {
		keeperOf[i] = none
	}
	for at, doc := range order {
		place[doc] = uint32(at)
		scores[doc] = 1
		class, best := c.of[doc], none
		if at >= s.Known {
			consider := func(other uint32, score float64) {
				k := keeperOf[other]
				if k == none || s.Accept != nil && !s.Accept(doc, k) {
					return
				}
				if best == none || score > scores[doc] || score == scores[doc] && place[k] < place[best] {
					best, scores[doc] = k, score
				}
			}
			if self[class] >= 0 {
				consider(class, self[class])
			}
			for _, i := range near.at[near.first[class]:near.first[class+1]] {
				e := &near.edges[i]
				consider(e.a+e.b-class, e.score)
			}
		}
		if best != none {
			keeper[doc] = best
		} else if (at < s.Known || !s.OnlyKnown) && keeperOf[class] == none {
			keeperOf[class] = doc
		}
		if at%4096 == 0 && ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
	}
	return keeper, scores, nil
}

// Components connects the documents that match. It returns for each document the preferred one of
// its component, and the score with it, 0 if the two do not match.
func (c *Corpus) Components(ctx context.Context, order []uint32, o JoinOptions) (keeper []uint32, scores []float64, err error) {
	self, err := c.selfScores(ctx)
	if err != nil {
		return nil, nil, err
	}
	forest := selfjoin.NewForest(c.N)
	unite := func(class uint32, with uint32) {
		for _, doc := range c.class(class) {
			forest.Union(with, doc)
		}
	}
	for class, score := range self {
		if score >= 0 {
			unite(uint32(class), c.class(uint32(class))[0])
		}
	}
	err = c.edges(ctx, o, func(e edge) bool {
		first := c.class(e.a)[0]
		unite(e.a, first)
		unite(e.b, first)
		return ctx.Err() == nil
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	keeper, scores = forest.Labels(), make([]float64, c.N)
	if order != nil {
		keeper = selfjoin.Preferred(keeper, order)
	}
	t := c.tester(ctx)
	for doc, k := range keeper {
		if scores[doc] = 1; int(k) != doc {
			score, ok, err := t.match(c.of[doc], c.of[k])
			if err != nil {
				return nil, nil, err
			}
			if scores[doc] = score; !ok {
				scores[doc] = 0
			}
		}
	}
	return keeper, scores, nil
}
