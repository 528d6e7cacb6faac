package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/engine/internal/texts"
)

// crowdQuery returns a query of the batch as one of a crowd.
func (b *verifyBatch) crowdQuery(ctx context.Context, sets *texts.Shingler, query int) (c *crowdQuery, err error) {
	of := b.samples(query)
	err = b.v.Safely(ctx, func() error {
		sketch, err := of.sketch(b.v)
		if err != nil {
			return err
		}
		text, err := of.readText(b.v)
		if err != nil {
			return err
		}
		c = &crowdQuery{
			number: query, text: string(text), set: sets.Set(text), sketch: sketch, t: candidateThreshold(b.v, sketch, b.by.T),
			accepts: func(id []byte) bool { return string(id) != of.ID },
		}
		return nil
	})
	return c, err
}

// crowdHitBytes is what a match of a crowd takes while a slice of them grows.
const crowdHitBytes = 2 * 80

// decideCrowds finds the matches of the queries of g that have a crowd, and holds them until flush
// emits them. It returns how many candidates are no crowd for the queries after those of g. Where
// there is no memory for the matches of all, g is cut off before the first query that is not
// decided, so that what was found before is emitted first. A query that fails alone is left to the
// search without crowds, which has its error.
func (b *verifyBatch) decideCrowds(ctx context.Context, g *gathered) (crowd int, err error) {
	if len(g.crowded) == 0 {
		return b.crowd, nil
	}
	if err := b.flush(ctx); err != nil {
		return 0, err
	}
	most := max(int(b.most/crowdHitBytes), 1)
	for left := g.crowded; len(left) > 0; {
		if len(b.crowded) > most/2 {
			b.cut(g, left[0].number)
			return b.crowd, nil
		}
		some := left[:min(b.together, len(left))]
		room := most
		if len(some) == 1 {
			room = max(most, b.v.Most(jaccardHitBytes))
		}
		hits, err := b.crowdHits(ctx, some, room)
		switch {
		case err == nil:
			left = left[len(some):]
			b.crowded = append(b.crowded, hits...)
			if len(hits) < most/4 {
				b.together = min(2*b.together, verifyQueries)
			}
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case len(some) > 1:
			b.together = len(some) / 2
		default:
			b.cut(g, some[0].number)
			return 0, nil
		}
	}
	return b.crowd, nil
}

// cut leaves the queries before one in g.
func (b *verifyBatch) cut(g *gathered, query int) {
	g.err, g.ended = nil, query-b.to
	g.sets = g.sets[:g.ended]
	g.pairs = slices.DeleteFunc(g.pairs, func(p textPair) bool { return int(p.query) >= query })
}

// crowdHits returns the matches of queries in order, or errCrowded if there are more than most.
func (b *verifyBatch) crowdHits(ctx context.Context, queries []*crowdQuery, most int) (hits []crowdHit, err error) {
	c := &crowd{v: b.v, t: b.by.T, queries: queries}
	err = c.each(ctx, func(found []crowdHit) error {
		if len(hits)+len(found) > most {
			return errCrowded
		}
		hits = append(hits, found...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = b.v.Safely(ctx, func() error {
		slices.SortFunc(hits, func(x, y crowdHit) int {
			return cmp.Or(cmp.Compare(x.query, y.query), CompareJaccard(x.JaccardHit, y.JaccardHit))
		})
		return nil
	})
	for i := range hits {
		hits[i].query = queries[hits[i].query].number
	}
	return hits, err
}

// emitCrowds emits the matches of crowds of queries before one.
func (b *verifyBatch) emitCrowds(ctx context.Context, before int) error {
	for len(b.crowded) > 0 && b.crowded[0].query < before {
		some, n := b.crowded, 1
		for n < len(some) && some[n].query == some[0].query {
			n++
		}
		if err := b.emitHits(ctx, some[0].query, n, func(i int) *JaccardHit { return &some[i].JaccardHit }); err != nil {
			return err
		}
		b.crowded = some[n:]
	}
	return nil
}
