package cluster

import (
	"cmp"
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/minhash"
)

// eachScored calls fn for all pairs of items that match by the criterion, until it returns false.
// Sets are joined as one: the pairs of two sets follow each other.
func (j *joinSet) eachScored(ctx context.Context, by view.Criterion, progress func(view.Progress), fn func(*sketchPair) bool) error {
	calls := 0
	give := func(p *sketchPair) bool { // two sets may have very many pairs
		calls++
		return (calls%(1<<14) != 0 || ctx.Err() == nil) && fn(p)
	}
	goOn, err := j.eachEqual(ctx, by, give)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || !goOn {
		return err
	}
	err = j.eachSetPair(ctx, by, progress, func(p *sketchPair) bool {
		q := *p
		return j.eachOfSet(p.a, func(a uint32) bool {
			return j.eachOfSet(p.b, func(b uint32) bool {
				q.a, q.b = a, b
				return give(&q)
			})
		})
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// eachEqual calls fn for all pairs of items of equal sets until it returns false, and says whether
// it has not.
func (j *joinSet) eachEqual(ctx context.Context, by view.Criterion, fn func(*sketchPair) bool) (goOn bool, err error) {
	for a := range uint32(j.items) {
		if a%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if j.next[a] == a {
			continue
		}
		p := sketchPair{a: a, score: j.equalScore(by, a)}
		if !j.eachOfSet(j.next[a], func(b uint32) bool { p.b = b; return fn(&p) }) {
			return false, nil
		}
	}
	return true, nil
}

func (j *joinSet) equalScore(by view.Criterion, i uint32) minhash.Score {
	if bySketch(by) {
		return j.estimate(i, i)
	}
	return minhash.Score{Score: 1, Exact: true}
}

// scored returns all pairs of items that match by the criterion, in no particular order.
func (j *joinSet) scored(ctx context.Context, by view.Criterion, progress func(view.Progress)) (pairs []sketchPair, err error) {
	most := j.v.Most(sketchPairBytes)
	err = j.eachScored(ctx, by, progress, func(p *sketchPair) bool {
		pairs = append(pairs, *p)
		return len(pairs) <= most
	})
	if err == nil && len(pairs) > most {
		err = j.v.OverBudget("pairs")
	}
	return pairs, err
}

// sketchPairs returns all pairs that match by the criterion, in their order.
func (j *joinSet) sketchPairs(ctx context.Context, by view.Criterion, progress func(view.Progress)) (foundPairs, error) {
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
	err = ordered.InPlace(ctx, pairs, func(x, y sketchPair) int {
		return cmp.Or(cmp.Compare(y.score.Score, x.score.Score), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
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

// countScored counts the pairs of items that match by the criterion, those of two sets together.
func (j *joinSet) countScored(ctx context.Context, by view.Criterion, progress func(view.Progress)) (n int64, err error) {
	sizes := j.setSizes()
	for _, size := range sizes {
		if size > 1 {
			n += int64(size) * int64(size-1) / 2
		}
	}
	err = j.eachSetPair(ctx, by, progress, func(p *sketchPair) bool {
		n += int64(sizes[p.a]) * int64(sizes[p.b])
		return true
	})
	return n, err
}
