package collection

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/selfjoin"
)

// Groups say which items may match: those of two groups, with Across, or those of one. With nil
// Groups any two may.
type Groups struct {
	Of     []uint32 // by item
	Across bool
}

// Accept reports whether two items may match.
func (g *Groups) Accept(a, b uint32) bool { return g == nil || (g.Of[a] != g.Of[b]) == g.Across }

// Apart returns what keeps apart items that must not match. Group is that of Apart.
func (g *Groups) Apart(a selfjoin.Apart) selfjoin.Apart {
	if g != nil && !g.Across {
		a.Within = func(n uint32) uint32 { return g.Of[n] }
	}
	return a
}

// Salt returns a number for the group of the item that was added last, 0 if items of two groups may
// match. Features that are combined with it are equal within groups alone.
func (g *Groups) Salt() uint64 {
	if g == nil || g.Across {
		return 0
	}
	return xxh3.Hash(binary.LittleEndian.AppendUint32(nil, g.Of[len(g.Of)-1])) | 1
}

// Sort puts items that are equal into the order of their groups.
func (g *Groups) Sort(items []uint32) {
	if g != nil && len(items) > 1 {
		slices.SortFunc(items, func(a, b uint32) int { return cmp.Or(cmp.Compare(g.Of[a], g.Of[b]), cmp.Compare(a, b)) })
	}
}

// span returns where the items of a group are in a sorted span.
func (g *Groups) span(items []uint32, s Span, group uint32) Span {
	find := func(lo uint32, after func(of uint32) bool) uint32 {
		return lo + uint32(sort.Search(int(s.Hi-lo), func(i int) bool { return after(g.Of[items[lo+uint32(i)]]) }))
	}
	lo := find(s.Lo, func(of uint32) bool { return of >= group })
	return Span{lo, find(lo, func(of uint32) bool { return of > group })}
}

// none reports whether no item of a class may match one of another, or of its own if that is empty:
// it may say no of some of which that is so.
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

// split calls emit for the parts of two classes, each sorted, of which any two items match, or with
// an empty span for those of one class, until it returns false. With b empty, so may be that of emit.
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
			others[0] = Span{part.Hi, a.Hi} // those of the groups before have had this one
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

// unite connects the items of two classes that match, each sorted, or of one if the other is empty.
// All that has been connected before must have been by the same Groups: then of a class, or within
// groups of a part of one, all items are connected or none.
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
	case !g.none(items, a, b): // an item of each matches all of the other, or both have several groups
		join(a, b)
	}
}
