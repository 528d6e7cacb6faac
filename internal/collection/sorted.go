package collection

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

// Bytes of Pairs for each pair during the search: a growing slice exists twice.
const (
	nearBytes   = 24 // two items, and as much again for sorting
	scoredBytes = 48
)

// checkEvery is the number of pairs that are ranked between two checks of the context.
const checkEvery = 1 << 16

// Pair is two matching items, by rank: A < B.
type Pair struct {
	Match float64
	A, B  uint32
}

// Pairs returns all matching pairs, ordered by decreasing similarity, then by A, then by B. If
// they need more than memory bytes during the search, it returns tooMany.
func (c *Collection) Pairs(ctx context.Context, memory int64, tooMany func() error) (found func(yield func(Pair) bool), err error) {
	if c.Sets == nil {
		return c.nearPairs(ctx, memory/nearBytes, tooMany)
	}
	var pairs []Pair
	left := max(memory/scoredBytes, 1)
	err = c.EachPair(ctx, func(a, b uint32, match float64) bool {
		if left--; left >= 0 {
			pairs = append(pairs, Pair{match, a, b})
		}
		return left >= 0
	})
	if err == nil && left < 0 {
		err = tooMany()
	}
	if err != nil {
		return nil, err
	}
	rank, _, err := c.ranks(ctx, func(add func(a, b uint32) error) (err error) {
		for i := 0; i < len(pairs) && err == nil; i++ {
			err = add(pairs[i].A, pairs[i].B)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, p := range pairs {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a, b := rank(p.A), rank(p.B)
		pairs[i].A, pairs[i].B = min(a, b), max(a, b)
	}
	err = ordered.InPlace(ctx, pairs, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(y.Match, x.Match), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return slices.Values(pairs), err
}

// ranks returns the ranks of the items in pairs.
func (c *Collection) ranks(ctx context.Context, each func(add func(a, b uint32) error) error) (of func(item uint32) uint32, n int, err error) {
	c.sorting()
	items, added := NewItemSet(c.Items), 0
	err = each(func(a, b uint32) error {
		items.Add(a)
		items.Add(b)
		if added++; added%checkEvery == 0 {
			return ctx.Err()
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return c.Rank(ctx, items)
}

// nearPairs is Pairs by distance. It gathers the pairs of each distance as numbers.
func (c *Collection) nearPairs(ctx context.Context, left int64, tooMany func() error) (func(yield func(Pair) bool), error) {
	found := make([][]uint64, 64*len(c.Fingerprints)+1) // by distance: an item<<32 | another
	err := c.EachPair(ctx, func(a, b uint32, match float64) bool {
		if left--; left < 0 {
			return false
		}
		distance := int(-match)
		found[distance] = append(found[distance], uint64(a)<<32|uint64(b))
		return true
	})
	if err == nil && left < 0 {
		err = tooMany()
	}
	if err != nil {
		return nil, err
	}
	rank, n, err := c.ranks(ctx, func(add func(a, b uint32) error) (err error) {
		for _, pairs := range found {
			for i := 0; i < len(pairs) && err == nil; i++ {
				err = add(uint32(pairs[i]>>32), uint32(pairs[i]))
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := sortByRank(ctx, found, rank, bits.Len(uint(n))); err != nil {
		return nil, err
	}
	return func(yield func(Pair) bool) {
		for distance, pairs := range found {
			for _, p := range pairs {
				if !yield(Pair{-float64(distance), uint32(p >> 32), uint32(p)}) {
					return
				}
			}
		}
	}, ctx.Err()
}

// sortByRank replaces the items of pairs by their ranks, which have width bits, the smaller
// first, and sorts the pairs.
func sortByRank(ctx context.Context, found [][]uint64, rank func(item uint32) uint32, width int) error {
	var spare []uint64
	for d, pairs := range found {
		for part := range slices.Chunk(pairs, checkEvery) {
			if err := ctx.Err(); err != nil {
				return err
			}
			for i, p := range part {
				a, b := rank(uint32(p>>32)), rank(uint32(p))
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
