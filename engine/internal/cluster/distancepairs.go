package cluster

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
)

// pairs returns all pairs within k bits, in their order.
func (j *joinSet) pairs(ctx context.Context, k int, progress func(view.Progress)) (foundPairs, error) {
	found := make([][]uint64, j.v.Bits()+1) // by distance: an item<<32 | another
	left := j.v.Most(pairBytes)
	err := j.eachItemPair(ctx, k, progress, func(a, b uint32, distance int) bool {
		if left--; left < 0 {
			return false
		}
		found[distance] = append(found[distance], uint64(a)<<32|uint64(b))
		return true
	})
	if err == nil && left < 0 {
		err = j.v.OverBudget("pairs")
	}
	if err != nil {
		return nil, err
	}
	sorting(progress)
	items := newItemSet(j.items)
	for _, pairs := range found {
		for part := range slices.Chunk(pairs, checkEvery) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for _, p := range part {
				items.add(uint32(p >> 32))
				items.add(uint32(p))
			}
		}
	}
	ranks, err := j.rank(ctx, items)
	if err != nil {
		return nil, err
	}
	if err := sortByRank(ctx, found, ranks); err != nil {
		return nil, err
	}
	return func(yield func(a, b string, m view.Match) bool) {
		for distance, pairs := range found {
			for _, p := range pairs {
				a, b := ranks.ids[p>>32], ranks.ids[uint32(p)]
				if !yield(a, b, view.Match{ID: b, Distance: distance}) {
					return
				}
			}
		}
	}, ctx.Err()
}

// sortByRank replaces the items of pairs by the ranks of their IDs, the smaller first, and sorts
// them.
func sortByRank(ctx context.Context, found [][]uint64, ranks *idRanks) error {
	width := bits.Len(uint(len(ranks.ids))) // of a rank
	var spare []uint64
	for d, pairs := range found {
		for part := range slices.Chunk(pairs, checkEvery) {
			if err := ctx.Err(); err != nil {
				return err
			}
			for i, p := range part {
				a, b := ranks.of(uint32(p>>32)), ranks.of(uint32(p))
				part[i] = uint64(min(a, b))<<width | uint64(max(a, b))
			}
		}
		if cap(spare) < len(pairs) {
			spare = make([]uint64, len(pairs))
		}
		var err error
		if pairs, spare, err = ordered.SortContext(ctx, pairs, spare[:len(pairs)], max(2*width, 1)); err != nil {
			return err
		}
		for i, p := range pairs {
			pairs[i] = p>>width<<32 | p&(1<<width-1)
		}
		found[d] = pairs
	}
	return nil
}

// eachItemPair calls fn for every pair of items within k bits until it returns false: those of
// equal fingerprint first.
func (j *joinSet) eachItemPair(ctx context.Context, k int, progress func(view.Progress), fn func(a, b uint32, distance int) bool) error {
	if j.first == nil {
		return j.eachGroupPair(ctx, k, progress, fn)
	}
	calls := 0
	goOn := func(a, b uint32, distance int) bool {
		calls++
		return (calls%(1<<14) != 0 || ctx.Err() == nil) && fn(a, b, distance)
	}
	err := j.eachGroupPair(ctx, k, progress, func(x, y uint32, distance int) bool {
		for a := j.first[x]; a < j.first[x+1]; a++ {
			from := j.first[y]
			if x == y {
				from = a + 1
			}
			for b := from; b < j.first[y+1]; b++ {
				if !goOn(a, b, distance) {
					return false
				}
			}
		}
		return true
	})
	return cmp.Or(err, ctx.Err())
}

// eachGroupPair calls fn for every pair of groups within k bits until it returns false: first for
// each group of several items with itself.
func (j *joinSet) eachGroupPair(ctx context.Context, k int, progress func(view.Progress), fn func(x, y uint32, distance int) bool) error {
	o := selfjoin.Options{Progress: progressOf(j.fps.Len(), progress)}
	if j.several != nil {
		return j.several.Pairs(ctx, j.fps, k, o, fn)
	}
	if j.first != nil {
		for g := range uint32(j.groups()) {
			if lo, hi := j.span(g); hi-lo > 1 && !fn(g, g, 0) {
				return nil
			}
			if g%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return selfjoin.Pairs(ctx, j.fps, k, o, fn)
}
