package collection

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/selfjoin"
)

// A Group is what limits the matches of an item: two items match only if they are equal In, and,
// with Groups.Across, differ in Across.
type Group struct{ In, Across uint32 }

// Groups limit matches. With nil Groups, any two items may match.
type Groups struct {
	Of     []Group // by item
	Within bool    // In is not 0 everywhere
	Across bool    // otherwise Across is 0 everywhere
}

// Accept reports whether two items may match.
func (g *Groups) Accept(a, b uint32) bool { return g == nil || g.May(g.Of[a], g.Of[b]) }

// May reports whether items of two groups may match.
func (g *Groups) May(x, y Group) bool { return x.In == y.In && (!g.Across || x.Across != y.Across) }

// Apart adds the restrictions of the groups to a.
func (g *Groups) Apart(a selfjoin.Apart) selfjoin.Apart {
	if g != nil && g.Within {
		a.Within = func(n uint32) uint32 { return g.Of[n].In }
	}
	return a
}

// Number returns a number for the group of an item, which other groups do not have.
func (g *Groups) Number(item uint32) uint64 {
	of := g.Of[item]
	return uint64(of.In)<<32 | uint64(of.Across)
}

// Salt returns a number for what the last item added is In, 0 if it limits nothing. Features that
// are combined with it are only equal within.
func (g *Groups) Salt() uint64 {
	if g == nil || !g.Within {
		return 0
	}
	return xxh3.Hash(binary.LittleEndian.AppendUint32(nil, g.Of[len(g.Of)-1].In)) | 1
}

// Sort sorts equal items by their groups.
func (g *Groups) Sort(items []uint32) {
	if g != nil && len(items) > 1 {
		slices.SortFunc(items, func(a, b uint32) int { return cmp.Or(cmp.Compare(g.Number(a), g.Number(b)), cmp.Compare(a, b)) })
	}
}

// span returns the places of the items with numbers from to up to, in a sorted span.
func (g *Groups) span(items []uint32, s Span, from, to uint64) Span {
	find := func(lo uint32, after func(number uint64) bool) uint32 {
		return lo + uint32(sort.Search(int(s.Hi-lo), func(i int) bool { return after(g.Number(items[lo+uint32(i)])) }))
	}
	lo := find(s.Lo, func(number uint64) bool { return number >= from })
	return Span{lo, find(lo, func(number uint64) bool { return number > to })}
}

// in returns the places of the items that are in what an item is in.
func (g *Groups) in(items []uint32, s Span, item uint32) Span {
	from := uint64(g.Of[item].In) << 32
	return g.span(items, s, from, from|math.MaxUint32)
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
	of := func(at uint32) Group { return g.Of[items[at]] }
	oneIn := of(a.Lo).In == of(a.Hi-1).In && of(b.Lo).In == of(b.Hi-1).In
	if oneIn && of(a.Lo).In != of(b.Lo).In {
		return true
	}
	return g.Across && oneIn && of(a.Lo) == of(a.Hi-1) && of(a.Lo) == of(b.Lo) && of(a.Lo) == of(b.Hi-1)
}

// parts calls emit, until it returns false, for parts of two sorted classes that are in the same, or
// of a if b is empty; then the second part is empty.
func (g *Groups) parts(items []uint32, a, b Span, emit func(a, b Span) bool) bool {
	same := b.Len() == 0
	if !same && b.Len() < a.Len() {
		a, b = b, a
	}
	if !g.Within {
		return emit(a, b)
	}
	for from := a.Lo; from < a.Hi; {
		part := g.in(items, Span{from, a.Hi}, items[from])
		with := g.in(items, b, items[from])
		if (same || with.Len() > 0) && !emit(part, with) {
			return false
		}
		from = part.Hi
	}
	return true
}

// split calls emit, until it returns false, for parts of two sorted classes of which any two
// items match. If b is empty, it splits a, and emits an empty span for the pairs within a part.
func (g *Groups) split(items []uint32, a, b Span, emit func(a, b Span) bool) bool {
	if g == nil {
		return emit(a, b)
	}
	return g.parts(items, a, b, func(a, b Span) bool {
		if !g.Across {
			return b.Len() == 0 && a.Len() < 2 || emit(a, b)
		}
		same := b.Len() == 0
		for from := a.Lo; from < a.Hi; {
			number := g.Number(items[from])
			part := g.span(items, Span{from, a.Hi}, number, number)
			others := [2]Span{{part.Hi, a.Hi}} // earlier groups have included this one
			if !same {
				equal := g.span(items, b, number, number)
				others = [2]Span{{b.Lo, equal.Lo}, {equal.Hi, b.Hi}}
			}
			for _, o := range others {
				if o.Len() > 0 && !emit(part, o) {
					return false
				}
			}
			from = part.Hi
		}
		return true
	})
}

// unite connects the matching items of two sorted classes, or of one if the other is empty. All
// earlier connections must use the same Groups: then of the items of a class that are in the same,
// either all are connected or none.
func (g *Groups) unite(forest *selfjoin.Forest, items []uint32, a, b Span) {
	chain := func(s Span) {
		if s.Len() == 0 || forest.Root(items[s.Lo]) == forest.Root(items[s.Hi-1]) {
			return
		}
		for at := s.Lo + 1; at < s.Hi; at++ {
			forest.Union(items[at-1], items[at])
		}
	}
	g.parts(items, a, b, func(a, b Span) bool {
		if !g.none(items, a, b) { // an item of each part matches the whole other one, or both have several groups
			chain(a)
			chain(b)
			if b.Len() > 0 {
				forest.Union(items[a.Lo], items[b.Lo])
			}
		}
		return true
	})
}
