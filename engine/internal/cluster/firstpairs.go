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
	err := j.eachSame(ctx, by, l.groupPair)
	if last, cut := l.held.Last(); err == nil && l.err == nil && !(cut && last.Score >= 1) { // nothing is more similar
		err = j.eachGroupPair(ctx, by, progress, l.groupPair)
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

// groupPair takes the pairs of the items of two groups, or sets, or of one with itself. It returns
// false after an error.
func (l *pairsLimit) groupPair(of *link) bool {
	x, y, m := of.a, of.b, of.match("")
	if last, cut := l.held.Last(); cut && (m.Distance > last.Distance || m.Score < last.Score) {
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
	n, first := 0, ordered.Limited[[]byte]{Most: l.n + 1, Compare: bytes.Compare}
	l.eachOf(g, func(i uint32) bool {
		var id []byte
		if id, l.err = l.place(i).ID(); l.err == nil && n%4096 == 0 {
			l.err = l.ctx.Err()
		}
		n++
		first.Add(id)
		return l.err == nil
	})
	if l.err != nil {
		return nil
	}
	ids := first.Items()
	if n >= largeItems {
		l.small[g] = ids
	}
	return ids
}
