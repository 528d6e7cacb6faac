package cluster

import (
	"context"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
)

// pairs returns all pairs within some bits, in their order.
func (j *joinSet) pairs(ctx context.Context, by view.Criterion, progress func(view.Progress)) (foundPairs, error) {
	found := make([][]uint64, j.v.Bits()+1) // by distance: an item<<32 | another
	left := j.v.Most(pairBytes)
	err := j.eachItemPair(ctx, by, progress, func(l *link) bool {
		if left--; left < 0 {
			return false
		}
		found[l.distance] = append(found[l.distance], uint64(l.a)<<32|uint64(l.b))
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
