package search

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/simdb/simdb/minhash"
)

// decideCrowds decides those of some queries that have a crowd, and returns the others, and those
// that it fails for.
func (b *anyBatch) decideCrowds(ctx context.Context, queries []int) (left []int, err error) {
	var mu sync.Mutex
	var crowded []*crowdQuery
	most := crowdFrom(b.v)
	err = eachShare(ctx, len(queries), 1, func(i int) error {
		c := b.crowdQuery(ctx, queries[i], most)
		mu.Lock()
		defer mu.Unlock()
		if c == nil {
			left = append(left, queries[i])
		} else {
			crowded = append(crowded, c)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(crowded, verifyQueries) {
		c := &crowd{v: b.v, t: b.by.T, queries: some, first: true}
		err := c.each(ctx, func(hits []crowdHit) error {
			for _, h := range hits {
				b.queries[some[h.query].number].known.Store(true)
			}
			return nil
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, q := range some {
			if err != nil && !b.queries[q.number].known.Load() {
				left = append(left, q.number)
			}
		}
	}
	slices.Sort(left)
	return left, nil
}

// crowdQuery returns a query with more than most candidates as one of a crowd, nil for another one.
func (b *anyBatch) crowdQuery(ctx context.Context, query, most int) (c *crowdQuery) {
	of := &b.queries[query].of
	q := jaccardPool.Get().(*Jaccard)
	defer jaccardPool.Put(q)
	defer q.Forget()
	sketch := minhash.Sketch(of.Sketch)
	t := candidateThreshold(b.v, sketch, b.by.T)
	q.few = most
	err := b.v.Safely(ctx, func() error { return q.bySketch(ctx, b.v, sketch, t, string(of.ID)) })
	if q.few = 0; !errors.Is(err, errCrowded) {
		return nil // another error is one of the search for this query alone, too
	}
	x := &existence{v: b.v, of: of, except: string(of.ID)}
	return &crowdQuery{
		number: query, text: string(of.Text), set: b.v.Texts.Shingler().Set(of.Text), sketch: sketch, t: t, accepts: x.accepts,
	}
}
