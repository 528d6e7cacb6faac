package corpus

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/selfjoin"
)

// Groups say which documents may match: those of two groups, with Across, or those of one. With nil
// Groups any two may.
type Groups struct {
	Of     []uint32 // by document
	Across bool
}

// Accept reports whether two documents may match.
func (g *Groups) Accept(a, b uint32) bool { return g == nil || (g.Of[a] != g.Of[b]) == g.Across }

// Apart returns what keeps apart documents that must not match. Group is that of Apart.
func (g *Groups) Apart(a selfjoin.Apart) selfjoin.Apart {
	if g != nil && !g.Across {
		a.Within = func(n uint32) uint32 { return g.Of[n] }
	}
	return a
}

// salt returns a number for the group of the document that was added last, 0 if documents of two
// groups may match. Features that are combined with it are equal within groups alone.
func (g *Groups) salt() uint64 {
	if g == nil || g.Across {
		return 0
	}
	return xxh3.Hash(binary.LittleEndian.AppendUint32(nil, g.Of[len(g.Of)-1])) | 1
}

// sort puts documents that are equal into the order of their groups.
func (g *Groups) sort(docs []uint32) {
	if g != nil && len(docs) > 1 {
		slices.SortFunc(docs, func(a, b uint32) int { return cmp.Or(cmp.Compare(g.Of[a], g.Of[b]), cmp.Compare(a, b)) })
	}
}

// span returns where the documents of a group are among sorted ones.
func (g *Groups) span(docs []uint32, group uint32) (lo, hi int) {
	lo = sort.Search(len(docs), func(i int) bool { return g.Of[docs[i]] >= group })
	return lo, lo + sort.Search(len(docs)-lo, func(i int) bool { return g.Of[docs[lo+i]] > group })
}

// none reports whether no document of a class may match one of another, or with nil of its own:
// it may say no of some of which that is so.
func (g *Groups) none(a, b []uint32) bool {
	if g == nil {
		return false
	}
	if b == nil {
		b = a
	}
	first := g.Of[a[0]]
	if one := first == g.Of[a[len(a)-1]] && g.Of[b[0]] == g.Of[b[len(b)-1]]; !one {
		return false
	}
	return (first != g.Of[b[0]]) != g.Across
}

// split calls emit for the parts of two classes, each sorted, of which any two documents match, or
// with nil for those of one class, until it returns false. With b nil, emit is also given nil.
func (g *Groups) split(a, b []uint32, emit func(a, b []uint32) bool) bool {
	if g == nil {
		return emit(a, b)
	}
	if b != nil && len(b) < len(a) {
		a, b = b, a
	}
	for from := 0; from < len(a); {
		_, to := g.span(a[from:], g.Of[a[from]])
		part, others := a[from:from+to], [2][]uint32{}
		switch lo, hi := g.span(b, g.Of[part[0]]); {
		case g.Across && b == nil:
			others[0] = a[from+to:] // those of the groups before have had this one
		case g.Across:
			others = [2][]uint32{b[:lo], b[hi:]}
		case b != nil:
			others[0] = b[lo:hi]
		case len(part) > 1 && !emit(part, nil):
			return false
		}
		for _, o := range others {
			if len(o) > 0 && !emit(part, o) {
				return false
			}
		}
		from += to
	}
	return true
}

// unite connects the documents of two classes that match, each sorted, or with nil those of one.
// All that has been connected before must have been by the same Groups: then of a class, or within
// groups of a part of one, all documents are connected or none.
func (g *Groups) unite(forest *selfjoin.Forest, a, b []uint32) {
	chain := func(docs []uint32) {
		if forest.Root(docs[0]) == forest.Root(docs[len(docs)-1]) {
			return
		}
		for ; len(docs) > 1; docs = docs[1:] {
			forest.Union(docs[0], docs[1])
		}
	}
	join := func(a, b []uint32) bool {
		if chain(a); b != nil {
			chain(b)
			forest.Union(a[0], b[0])
		}
		return true
	}
	switch {
	case !g.Across:
		g.split(a, b, join)
	case !g.none(a, b): // a document of each matches all of the other, or both have several groups
		join(a, b)
	}
}

// Alike returns for each document the first one that is equal to it and of its group, which Groups
// take for it; group says false for one that nothing is taken for.
func (c *Corpus) Alike(ctx context.Context, group func(n uint32) (uint32, bool)) ([]uint32, error) {
	first := c.alone()
	all, err := c.setClasses(ctx)
	if err != nil {
		return nil, err
	}
	for class := range all.ends {
		firsts := map[uint32]uint32{} // by group
		for _, n := range all.of(uint32(class)) {
			g, ok := group(n)
			f, had := firsts[g]
			switch {
			case !ok || c.Prints != nil && had && c.Distance(n, f) != 0:
			case had:
				first[n] = f
			default:
				firsts[g] = n
			}
		}
	}
	return first, nil
}
