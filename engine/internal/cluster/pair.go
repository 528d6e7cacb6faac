package cluster

import (
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// Bytes that a join holds for each pair that it has found, while a slice of them grows.
const (
	pairBytes       = 24 // two items, and room for two more to sort
	scoredPairBytes = 96
	heldPairBytes   = 2 * 104
)

// A link is two items, or two groups or sets, that match. Those that a join gives are valid until it
// gives the next one.
type link struct {
	a, b             uint32
	score, deviation float64
	distance         int32
	exact            bool
}

func (l *link) setScore(s minhash.Score) { l.score, l.deviation, l.exact = s.Score, s.Error, s.Exact }

// match returns how the two match, as the match of the document with this ID.
func (l *link) match(id string) view.Match {
	return view.Match{ID: id, Distance: int(l.distance), Score: l.score, Error: l.deviation, Exact: l.exact}
}

// foundPairs are the pairs of a join: it calls yield for each, A < B bytewise, until that returns
// false.
type foundPairs func(yield func(a, b string, m view.Match) bool)

// eachItemPair calls fn for every pair of items that match by the criterion until it returns false:
// first for those of one group or set. The pairs of two groups follow each other.
func (j *joinSet) eachItemPair(ctx context.Context, by view.Criterion, progress func(view.Progress), fn func(*link) bool) error {
	if j.first == nil && j.next == nil {
		return j.eachGroupPair(ctx, by, progress, fn)
	}
	calls := 0
	give := func(l *link) bool { // two groups may have very many pairs
		calls++
		return (calls%(1<<14) != 0 || ctx.Err() == nil) && fn(l)
	}
	goOn, err := j.eachEqual(ctx, by, give)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || !goOn {
		return err
	}
	var items link
	err = j.eachGroupPair(ctx, by, progress, func(l *link) bool {
		items = *l
		return j.eachOf(l.a, func(a uint32) bool {
			return j.eachOf(l.b, func(b uint32) bool {
				items.a, items.b = a, b
				return give(&items)
			})
		})
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// eachEqual calls fn for all pairs of items of one group or set until it returns false, and says
// whether it has not.
func (j *joinSet) eachEqual(ctx context.Context, by view.Criterion, fn func(*link) bool) (goOn bool, err error) {
	for g := range uint32(j.groups()) {
		if g%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		lo, hi := j.span(g)
		if hi-lo == 1 && (j.next == nil || j.next[g] == g) {
			continue
		}
		l := j.equal(by, g)
		give := func(b uint32) bool { l.b = b; return fn(&l) }
		if j.next != nil && !j.eachOf(j.next[g], give) {
			return false, nil
		}
		for ; lo < hi; lo++ {
			l.a = lo
			for b := lo + 1; b < hi; b++ {
				if !give(b) {
					return false, nil
				}
			}
		}
	}
	return true, nil
}

// eachSame calls fn for every group or set of several items, as a link with itself, until it returns
// false.
func (j *joinSet) eachSame(ctx context.Context, by view.Criterion, fn func(*link) bool) error {
	for g := range uint32(j.groups()) {
		if g%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		lo, hi := j.span(g)
		if hi-lo > 1 || j.next != nil && j.sets[g] == g && j.next[g] != g {
			if l := j.equal(by, g); !fn(&l) {
				return nil
			}
		}
	}
	return nil
}

// equal returns the link of a group or set with itself.
func (j *joinSet) equal(by view.Criterion, g uint32) link {
	l := link{a: g, b: g}
	switch {
	case bySketch(by):
		l.setScore(j.estimate(g, g))
	case !by.Near():
		l.setScore(minhash.Score{Score: 1, Exact: true})
	}
	return l
}

// eachGroupPair calls fn for every pair of different groups, or sets by their first items, that
// match by the criterion, until it returns false: always in the same order.
func (j *joinSet) eachGroupPair(ctx context.Context, by view.Criterion, progress func(view.Progress), fn func(*link) bool) error {
	if !by.Near() {
		return j.eachSetPair(ctx, by, progress, fn)
	}
	var l link
	give := func(x, y uint32, distance int) bool {
		l.a, l.b, l.distance = x, y, int32(distance)
		return fn(&l)
	}
	o := selfjoin.Options{Progress: progressOf(j.fps.Len(), progress)}
	if j.several != nil {
		return j.several.Pairs(ctx, j.fps, by.K, o, give)
	}
	return selfjoin.Pairs(ctx, j.fps, by.K, o, give)
}
