package cluster

import (
	"bytes"
	"cmp"
	"context"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
)

// A heldPair is a pair whose IDs alias the tables.
type heldPair struct {
	a, b []byte // a < b
	view.Match
}

func compareHeld(x, y heldPair) int {
	c := cmp.Or(cmp.Compare(x.Distance, y.Distance), cmp.Compare(y.Score, x.Score))
	if c == 0 {
		c = cmp.Or(bytes.Compare(x.a, y.a), bytes.Compare(x.b, y.b))
	}
	return c
}

// pairsLimit finds the first pairs of a join set. Groups are joined as one: of a group of equal
// fingerprints only the items with the smallest IDs can be in any of them.
type pairsLimit struct {
	*joinSet
	ctx   context.Context
	n     int
	held  ordered.Limited[heldPair]
	small map[uint32][][]byte // of large groups, the first IDs, in order
	err   error
}

// largeItems is how many items make a group large.
const largeItems = 64

// MostFirst is how many pairs firstPairs may be called for.
func MostFirst(v *view.View) int { return min(search.MostFirst, v.Most(heldPairBytes)) }

// FirstPairs returns the first n of sortedPairs. It holds about twice as many, however many there
// are.
func FirstPairs(ctx context.Context, v *view.View, by view.Criterion, n int, progress func(view.Progress)) (found foundPairs, err error) {
	err = joined(ctx, v, by, func(j *joinSet) (err error) {
		found, err = j.firstPairs(ctx, by, n, progress)
		return err
	})
	return found, err
}

func (j *joinSet) firstPairs(ctx context.Context, by view.Criterion, n int, progress func(view.Progress)) (foundPairs, error) {
	if n < 1 {
		return func(func(a, b string, m view.Match) bool) {}, nil
	}
	l := &pairsLimit{joinSet: j, ctx: ctx, n: n, small: map[uint32][][]byte{}}
	l.held = ordered.Limited[heldPair]{Most: n, Compare: compareHeld}
	var err error
	if !by.Near() {
		err = j.eachScored(ctx, by, progress, l.scored)
	} else {
		err = j.eachGroupPair(ctx, by.K, progress, l.groupPair)
	}
	if err = cmp.Or(l.err, err); err != nil {
		return nil, err
	}
	type pair struct {
		a string
		view.Match
	}
	var pairs []pair // copies: the tables may be gone when they are taken
	for _, h := range l.held.Items() {
		h.ID = string(h.b)
		pairs = append(pairs, pair{string(h.a), h.Match})
	}
	return func(yield func(a, b string, m view.Match) bool) {
		for _, p := range pairs {
			if !yield(p.a, p.ID, p.Match) {
				return
			}
		}
	}, nil
}

// add takes a pair; false if there are n before it.
func (l *pairsLimit) add(a, b []byte, m view.Match) bool {
	if bytes.Compare(a, b) > 0 {
		a, b = b, a
	}
	h := heldPair{a, b, m}
	if last, cut := l.held.Last(); cut && compareHeld(h, last) >= 0 {
		return false
	}
	l.held.Add(h)
	return true
}

// scored takes a pair of items by score.
func (l *pairsLimit) scored(p *sketchPair) bool {
	m := p.match("")
	if last, cut := l.held.Last(); cut && m.Score < last.Score {
		return true
	}
	var a, b []byte
	if a, l.err = l.place(p.a).ID(); l.err == nil {
		b, l.err = l.place(p.b).ID()
	}
	if l.err == nil {
		l.add(a, b, m)
	}
	return l.err == nil
}

// groupPair takes the pairs of the items of two groups, or of one with itself.
func (l *pairsLimit) groupPair(x, y uint32, distance int) bool {
	m := view.Match{Distance: distance}
	if last, cut := l.held.Last(); cut && distance > last.Distance {
		return true
	}
	xs, ys := l.firstIDs(x), [][]byte(nil)
	if x != y {
		ys = l.firstIDs(y)
	}
	if l.err != nil {
		return false
	}
	// In the order of the smaller ID, and then of the other: until one comes too late, as do all
	// after it.
	for left := l.n; left > 0 && len(xs) > 0 && (x == y || len(ys) > 0); {
		if x != y && bytes.Compare(ys[0], xs[0]) < 0 {
			xs, ys = ys, xs
		}
		a := xs[0]
		if xs = xs[1:]; x == y {
			ys = xs
		}
		for _, b := range ys[:min(left, len(ys))] {
			if !l.add(a, b, m) {
				return true
			}
			left--
		}
	}
	return true
}

// firstIDs returns the IDs of a group's items, in order; of a large group those of the first n+1: a
// pair with a later one comes after n others.
func (l *pairsLimit) firstIDs(g uint32) [][]byte {
	if ids, ok := l.small[g]; ok {
		return ids
	}
	lo, hi := l.span(g)
	first := ordered.Limited[[]byte]{Most: l.n + 1, Compare: bytes.Compare}
	for i := lo; i < hi; i++ {
		if i%4096 == 0 && l.ctx.Err() != nil {
			l.err = l.ctx.Err()
			return nil
		}
		id, err := l.place(i).ID()
		if err != nil {
			l.err = err
			return nil
		}
		first.Add(id)
	}
	ids := first.Items()
	if hi-lo >= largeItems {
		l.small[g] = ids
	}
	return ids
}
