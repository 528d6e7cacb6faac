package cluster

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/ordered"
)

// preferred finds the preferred item of every group, and returns the groups in the order of
// preference.
func (c *clustering) preferred(ctx context.Context, before func(a, b view.Entry) bool) ([]uint32, error) {
	groups := c.groups()
	c.best = make([]uint32, groups.N)
	if before == nil {
		return c.oldestFirst(ctx, &groups)
	}
	entries := make([]view.Entry, groups.N) // entries of the preferred items
	less := preference(before)
	for f := range groups.N {
		if f%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s := groups.Span(uint32(f))
		for i := s.Lo; i < s.Hi; i++ {
			e, err := c.place(i).Entry()
			if err != nil {
				return nil, err
			}
			if i == s.Lo || less(e, entries[f]) < 0 {
				entries[f], c.best[f] = e, i
			}
		}
	}
	order := make([]uint32, groups.N)
	for f := range order {
		order[f] = uint32(f)
	}
	return order, ordered.InPlace(ctx, order, func(a, b uint32) int { return less(entries[a], entries[b]) })
}

// oldestFirst is preferred for the order of writing. It uses 24 bytes for each group.
func (c *clustering) oldestFirst(ctx context.Context, groups *collection.Classes) ([]uint32, error) {
	n := groups.N
	oldest := ordered.MakePairs(n) // number of the write, with its group
	for f := range n {
		if f%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s := groups.Span(uint32(f))
		for i := s.Lo; i < s.Hi; i++ {
			seq, err := c.place(i).Seq()
			older := i == s.Lo || seq < oldest.Keys[f]
			if err == nil && !older && seq == oldest.Keys[f] {
				older, err = c.idLess(i, c.best[f])
			}
			if err != nil {
				return nil, err
			}
			if older {
				oldest.Keys[f], c.best[f] = seq, i
			}
		}
		oldest.Vals[f] = uint32(f)
	}
	oldest = ordered.SortPairs(oldest, ordered.MakePairs(n))
	for from := 0; from < n; {
		to := from + 1
		for to < n && oldest.Keys[to] == oldest.Keys[from] {
			to++
		}
		if err := c.sortByID(oldest.Vals[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	return oldest.Vals, nil
}

// idLess reports whether the ID of item i sorts before the ID of item k.
func (c *clustering) idLess(i, k uint32) (bool, error) {
	a, err := c.place(i).ID()
	if err != nil {
		return false, err
	}
	b, err := c.place(k).ID()
	return bytes.Compare(a, b) < 0, err
}

// sortByID sorts groups by the IDs of their preferred items. It applies to items that were
// written at once, such as those of a table taken over from another database.
func (c *clustering) sortByID(groups []uint32) error {
	if len(groups) < 2 {
		return nil
	}
	var list idList
	for _, f := range groups {
		id, err := c.place(c.best[f]).ID()
		if err != nil {
			return err
		}
		list.add(id)
	}
	before := slices.Clone(groups)
	for rank, x := range inIDOrder(list.all()) {
		groups[rank] = before[x]
	}
	return nil
}

// preference extends a preference to a total order: among documents it does not distinguish, the
// one written first comes first.
func preference(before func(a, b view.Entry) bool) func(a, b view.Entry) int {
	return func(a, b view.Entry) int {
		switch {
		case before(a, b):
			return -1
		case before(b, a):
			return 1
		}
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID)) // the same order as oldestFirst
	}
}
