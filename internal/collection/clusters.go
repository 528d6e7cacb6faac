package collection

import (
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

// Clusters are the clusters of two or more items, ordered by decreasing size, then by the
// keeper's key. K is the type of the keys that order items: ranks or IDs.
type Clusters[K any] struct {
	units    Classes  // items that share a keeper
	best     []uint32 // by unit: the preferred item; nil: each unit is one item
	keeper   []uint32 // by unit
	key      func(item uint32) (K, error)
	compare  func(a, b K) int
	byKeeper []uint32 // units, grouped by cluster
	all      []cluster[K]
}

// A cluster is the units byKeeper[from:to], which have size items in total.
type cluster[K any] struct {
	from, to uint32
	size     uint32
	key      K // of the keeper
}

// A Member is an item of a cluster.
type Member[K any] struct {
	Item, Unit uint32
	Key        K
}

// Collect groups units of items by their keepers, and sorts the clusters. best is the preferred
// item of each unit, nil if each unit is one item.
func Collect[K any](ctx context.Context, c *Collection, units Classes, best, keeper []uint32, key func(item uint32) (K, error), compare func(a, b K) int) (*Clusters[K], error) {
	c.sorting()
	next := make([]uint32, len(keeper)+1) // a counting sort: by keeper, the position of its next unit
	for _, k := range keeper {
		next[k+1]++
	}
	for k := range keeper {
		next[k+1] += next[k]
	}
	found := &Clusters[K]{units: units, best: best, keeper: keeper, key: key, compare: compare, byKeeper: make([]uint32, len(keeper))}
	for unit, k := range keeper {
		found.byKeeper[next[k]] = uint32(unit)
		next[k]++
	}
	for from, to := 0, 0; from < len(keeper); from = to {
		size, k := 0, keeper[found.byKeeper[from]]
		for ; to < len(keeper) && keeper[found.byKeeper[to]] == k; to++ {
			size += units.Span(found.byKeeper[to]).Len()
		}
		if size < 2 {
			continue
		}
		id, err := key(found.bestOf(k))
		if err != nil {
			return nil, err
		}
		found.all = append(found.all, cluster[K]{uint32(from), uint32(to), uint32(size), id})
	}
	return found, ordered.InPlace(ctx, found.all, func(a, b cluster[K]) int {
		return cmp.Or(cmp.Compare(b.size, a.size), compare(a.key, b.key))
	})
}

// bestOf returns the preferred item of a unit.
func (c *Clusters[K]) bestOf(unit uint32) uint32 {
	if c.best == nil {
		return unit
	}
	return c.best[unit]
}

// Len returns the number of clusters.
func (c *Clusters[K]) Len() int { return len(c.all) }

// Append appends the members of cluster n, counted from 0, to an empty slice: the keeper first,
// whose unit is the keeper of all units, then the others by key.
func (c *Clusters[K]) Append(ctx context.Context, members []Member[K], n int) ([]Member[K], error) {
	cl := c.all[n]
	members = slices.Grow(members, int(cl.size))
	for i, unit := range c.byKeeper[cl.from:cl.to] {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for s := c.units.Span(unit); s.Len() > 0; s.Lo++ {
			item := c.units.Item(s.Lo)
			key, err := c.key(item)
			if err != nil {
				return nil, err
			}
			if members = append(members, Member[K]{item, unit, key}); item == c.bestOf(c.keeper[unit]) {
				members[0], members[len(members)-1] = members[len(members)-1], members[0]
			}
		}
	}
	return members, ordered.InPlace(ctx, members[1:], func(a, b Member[K]) int { return c.compare(a.Key, b.Key) })
}
