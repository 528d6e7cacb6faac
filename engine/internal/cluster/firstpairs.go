package cluster

import (
	"bytes"
	"cmp"
	"context"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
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

// pairsLimit finds the first pairs of a join set. Classes are joined as one: of a class of equal
// fingerprints, only the items with the smallest IDs can be in the result.
type pairsLimit struct {
	*joinSet
	ctx   context.Context
	n     int
	held  ordered.Limited[heldPair]
	small map[uint32][][]byte // by first place of a large class: its first IDs, in order
	err   error
}

const (
	largeItems    = 64      // items that make a class large
	heldPairBytes = 2 * 104 // memory of a join for each pair
)

// MostFirst returns the largest n for FirstPairs.
func MostFirst(v *view.View) int { return min(search.MostFirst, v.Most(heldPairBytes)) }

// FirstPairs returns the first n pairs in the order of Pairs. It holds about twice as many in
// memory, whatever the total.
func FirstPairs(ctx context.Context, v *view.View, by view.Criterion, n int, progress func(view.Progress)) (found foundPairs, err error) {
	err = joined(ctx, v, by, progress, func(j *joinSet) (err error) {
		found, err = j.firstPairs(ctx, n)
		return err
	})
	return found, err
}

func (j *joinSet) firstPairs(ctx context.Context, n int) (foundPairs, error) {
	if n < 1 {
		return func(func(a, b string, m view.Match) bool) {}, nil
	}
	l := &pairsLimit{joinSet: j, ctx: ctx, n: n, small: map[uint32][][]byte{}}
	l.held = ordered.Limited[heldPair]{Most: n, Compare: compareHeld}
	c := j.collection(ctx)
	_, err := c.Equals(ctx, l.classPair)
	if last, cut := l.held.Last(); err == nil && l.err == nil && !(cut && last.Score >= 1) { // no match is better
		err = c.Others(ctx, l.classPair)
	}
	if err = cmp.Or(l.err, err); err != nil {
		return nil, err
	}
	type pair struct {
		a string
		view.Match
	}
	var pairs []pair // copies: the tables may be gone when the pairs are read
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

// add adds a pair; it returns false if n pairs precede it.
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

// classPair adds the pairs between the items of two classes, or within one class if the other is
// empty. It returns false after an error.
func (l *pairsLimit) classPair(of, with collection.Span, match float64) bool {
	same := with.Len() == 0
	if same {
		with = of
	}
	m := l.match(l.classes.Item(of.Lo), l.classes.Item(with.Lo), match)
	if last, cut := l.held.Last(); cut && (m.Distance > last.Distance || m.Score < last.Score) {
		return true
	}
	xs, ys := l.firstIDs(of), [][]byte(nil)
	if !same {
		ys = l.firstIDs(with)
	}
	if l.err != nil {
		return false
	}
	// Pairs are visited in the order of the smaller ID, then of the larger; once a pair is too
	// late, so are all that follow.
	for left := l.n; left > 0 && len(xs) > 0 && (same || len(ys) > 0); {
		if !same && bytes.Compare(ys[0], xs[0]) < 0 {
			xs, ys = ys, xs
		}
		a := xs[0]
		if xs = xs[1:]; same {
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

// firstIDs returns the IDs of a class's items, in order; for a large class only the first n+1,
// since n other pairs precede any pair with a later one.
func (l *pairsLimit) firstIDs(of collection.Span) [][]byte {
	if ids, ok := l.small[of.Lo]; ok {
		return ids
	}
	first := ordered.Limited[[]byte]{Most: l.n + 1, Compare: bytes.Compare}
	for at := of.Lo; at < of.Hi && l.err == nil; at++ {
		var id []byte
		if id, l.err = l.place(l.classes.Item(at)).ID(); l.err == nil && (at-of.Lo)%4096 == 0 {
			l.err = l.ctx.Err()
		}
		first.Add(id)
	}
	if l.err != nil {
		return nil
	}
	ids := first.Items()
	if of.Len() >= largeItems {
		l.small[of.Lo] = ids
	}
	return ids
}
