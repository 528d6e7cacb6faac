package cluster

import (
	"cmp"
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
)

// scored returns all pairs of items that match by the criterion, in no particular order.
func (j *joinSet) scored(ctx context.Context, by view.Criterion, progress func(view.Progress)) (pairs []link, err error) {
	most := j.v.Most(scoredPairBytes)
	err = j.eachItemPair(ctx, by, progress, func(p *link) bool {
		pairs = append(pairs, *p)
		return len(pairs) <= most
	})
	if err == nil && len(pairs) > most {
		err = j.v.OverBudget("pairs")
	}
	return pairs, err
}

// scoredPairs returns all pairs that match by the criterion, in their order.
func (j *joinSet) scoredPairs(ctx context.Context, by view.Criterion, progress func(view.Progress)) (foundPairs, error) {
	pairs, err := j.scored(ctx, by, progress)
	if err != nil {
		return nil, err
	}
	sorting(progress)
	items := newItemSet(j.items)
	for i := range pairs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		items.add(pairs[i].a)
		items.add(pairs[i].b)
	}
	ranks, err := j.rank(ctx, items)
	if err != nil {
		return nil, err
	}
	for i := range pairs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a, b := ranks.of(pairs[i].a), ranks.of(pairs[i].b)
		pairs[i].a, pairs[i].b = min(a, b), max(a, b)
	}
	err = ordered.InPlace(ctx, pairs, func(x, y link) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return func(yield func(a, b string, m view.Match) bool) {
		for _, p := range pairs {
			a, b := ranks.ids[p.a], ranks.ids[p.b]
			if !yield(a, b, p.match(b)) {
				return
			}
		}
	}, err
}
