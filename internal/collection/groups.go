package collection

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/selfjoin"
)

// Groups limit matches: with Across, two items match only if their groups differ, otherwise only
// if they are equal. With nil Groups, any two items may match.
type Groups struct {
	Of     []uint32 // by item
	Across bool
}

// Accept reports whether two items may match.
func (g *Groups) Accept(a, b uint32) bool { return g == nil || (g.Of[a] != g.Of[b]) == g.Across }

// Apart adds the restrictions of the groups to a.
func (g *Groups) Apart(a selfjoin.Apart) selfjoin.Apart {
	if g != nil && !g.Across {
		a.Within = func(n uint32) uint32 { return g.Of[n] }
	}
	return a
}

// Salt returns a number for the group of the last item added, 0 if items of two groups may match.
// Features that are combined with it are only equal within a group.
func (g *Groups) Salt() uint64 {
	if g == nil || g.Across {
		return 0
	}
	return xxh3.Hash(binary.LittleEndian.AppendUint32(nil, g.Of[len(g.Of)-1])) | 1
}

// Sort sorts equal items by their groups.
func (g *Groups) Sort(items []uint32) {
	if g != nil && len(items) > 1 {
		slices.SortFunc(items, func(a, b uint32) int { return cmp.Or(cmp.Compare(g.Of[a], g.Of[b]), cmp.Compare(a, b)) })
	}
}

// span returns the places of a group's items in a sorted span.
func (g *Groups) span(items []uint32, s Span, group uint32) Span {
	find := func(lo uint32, after func(of uint32) bool) uint32 {
		return lo + uint32(sort.Search(int(s.Hi-lo), func(i int) bool { return after(g.Of[items[lo+uint32(i)]]) }))
	}
	lo := find(s.Lo, func(of uint32) bool { return of >= group })
	return Span{lo, find(lo, func(of uint32) bool { return of > group })}
}

// none reports whether no item of class a may match an item of class b, or of a itself if b is
// empty. It may return false although none may match.
func (g *Groups) none(items []uint32, a, b Span) bool {
	if g == nil {
		return false
	}
	if b.Len() == 0 {
		b = a
	}
	of := func(at uint32) uint32 { return g.Of[items[at]] }
	if one := of(a.Lo) == of(a.Hi-1) && of(b.Lo) == of(b.Hi-1); !one {
		return false
	}
	return (of(a.Lo) != of(b.Lo)) != g.Across
}

// split calls emit, until it returns false, for parts of two sorted classes of which any two
// items match. If b is empty, it splits a, and emits an empty span for the pairs within a part.
func (g *Groups) split(items []uint32, a, b Span, emit func(a, b Span) bool) bool {
	if g == nil {
		return emit(a, b)
	}
	same := b.Len() == 0
	if !same && b.Len() < a.Len() {
		a, b = b, a
	}
	for from := a.Lo; from < a.Hi; {
		group := g.Of[items[from]]
		part, others := g.span(items, Span{from, a.Hi}, group), [2]Span{}
		switch {
		case g.Across && same:
			others[0] = Span{part.Hi, a.Hi} // earlier groups have included this one
		case g.Across:
			equal := g.span(items, b, group)
			others = [2]Span{{b.Lo, equal.Lo}, {equal.Hi, b.Hi}}
		case !same:
			others[0] = g.span(items, b, group)
		case part.Len() > 1 && !emit(part, Span{}):
			return false
		}
		for _, o := range others {
			if o.Len() > 0 && !emit(part, o) {
				return false
			}
		}
		from = part.Hi
	}
	return true
}

// unite connects the matching items of two sorted classes, or of one if the other is empty. All
// earlier connections must use the same Groups: then within a class, or within a group of a class,
// either all items are connected or none.
func (g *Groups) unite(forest *selfjoin.Forest, items []uint32, a, b Span) {
	chain := func(s Span) {
		if s.Len() == 0 || forest.Root(items[s.Lo]) == forest.Root(items[s.Hi-1]) {
			return
		}
		for at := s.Lo + 1; at < s.Hi; at++ {
			forest.Union(items[at-1], items[at])
		}
	}
	join := func(a, b Span) bool {
		chain(a)
		chain(b)
		if b.Len() > 0 {
			forest.Union(items[a.Lo], items[b.Lo])
		}
		return true
	}
	switch {
	case !g.Across:
		g.split(items, a, b, join)
	case !g.none(items, a, b): // an item of each class matches the whole other class, or both have several groups
		join(a, b)
	}
}
