package stages

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// A Member is a set with the cells that it is assigned to, in order. It is sent to each of their
// groups.
type Member struct {
	Set
	Asked    []Asked
	Document []byte // if a rule decides about it
}

// Asked is a cell of a group.
type Asked struct {
	Group uint64
	Cell  uint32
}

func (a Asked) compare(b Asked) int {
	if a.Group != b.Group { // cmp.Or compares both
		return cmp.Compare(a.Group, b.Group)
	}
	return cmp.Compare(a.Cell, b.Cell)
}

// NewMember returns the Member of a set, with the features that the criterion compares. asks must
// be all Asks of its document.
func (p *Plan) NewMember(s Set, asks []Ask) Member {
	m := Member{Set: Set{Doc: s.Doc, Elements: s.Elements}, Asked: make([]Asked, len(asks))}
	if !p.By.Sets {
		m.Set = Set{Doc: s.Doc, Fingerprints: s.Fingerprints}
	}
	for i, a := range asks {
		m.Asked[i] = a.Asked
	}
	slices.SortFunc(m.Asked, Asked.compare)
	m.Asked = slices.Compact(m.Asked)
	return m
}

// Groups yields the groups of a Member.
func (m *Member) Groups() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i, a := range m.Asked {
			if (i == 0 || a.Group != m.Asked[i-1].Group) && !yield(a.Group) {
				return
			}
		}
	}
}

// distinct removes duplicates and sorts members by preference.
func distinct(members []Member) []Member {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.Doc, b.Doc) })
	return slices.CompactFunc(members, func(a, b Member) bool { return a.Doc == b.Doc })
}

// join returns the corpus of members.
func (p *Plan) join(members []Member) (*corpus.Corpus, error) {
	words := 0
	for _, m := range members {
		words += len(m.Elements) + len(m.Fingerprints)
	}
	memory := cmp.Or(p.Memory, 1<<30)
	c := corpus.New(corpus.Options{
		Sets: p.By.Sets, Fingerprints: !p.By.Sets, Memory: memory, InputBytes: 8 * int64(words), Dir: p.TempDir,
	})
	for _, m := range members {
		if err := c.Add(m.Elements, m.Fingerprints, len(m.Fingerprints)/max(p.Words, 1)); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// small calls f, until it returns false, for each two members that share a small cell of a group
// and no earlier cell. Over all groups, each two members are compared once.
func small(ctx context.Context, group uint64, members []Member, f func(a, b uint32) bool) error {
	var all []uint64 // cells with their members
	for i, m := range members {
		for _, a := range m.Asked {
			if a.Group == group && a.Cell != 0 {
				all = append(all, uint64(a.Cell)<<32|uint64(i))
			}
		}
	}
	slices.Sort(all)
	for from, to := 0, 0; from < len(all); from = to {
		cell := Asked{group, uint32(all[from] >> 32)}
		for to = from; to < len(all) && uint32(all[to]>>32) == cell.Cell; to++ {
			b := uint32(all[to])
			for _, at := range all[from:to] {
				a := uint32(at)
				if lowest(members[a].Asked, members[b].Asked) == cell && !f(a, b) {
					return nil
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// large returns the members that are assigned to large cells of a group.
func large(group uint64, members []Member) (some []Member, at []uint32) {
	for i, m := range members {
		if _, ok := slices.BinarySearchFunc(m.Asked, Asked{Group: group}, Asked.compare); ok {
			some, at = append(some, m), append(at, uint32(i))
		}
	}
	return some, at
}

// lowest returns the least cell that is in both, or the zero cell.
func lowest(a, b []Asked) Asked {
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].compare(b[0]); {
		case c == 0:
			return a[0]
		case c < 0:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return Asked{Group: math.MaxUint64}
}

// A Pair is two similar documents, A before B in the order of preference. Score is their
// similarity, or their distance in bits.
type Pair struct {
	A, B  uint64
	Score float64
}

// Pairs calls emit for the pairs that count in a group, until it returns false.
func (p *Plan) Pairs(ctx context.Context, group uint64, members []Member, emit func(Pair) bool) error {
	members = distinct(members)
	going, compare := true, setjoin.Measure{}.Comparer(p.By.T)
	err := small(ctx, group, members, func(a, b uint32) bool {
		x, y := &members[a], &members[b]
		if score, ok := compare(x.Elements, y.Elements); ok {
			going = emit(Pair{x.Doc, y.Doc, score})
		}
		return going
	})
	members, _ = large(group, members)
	if err != nil || !going || len(members) < 2 {
		return err
	}
	c, err := p.join(members)
	if err != nil {
		return err
	}
	defer c.Close()
	one := func(a, b int, score float64) bool {
		x, y := &members[a], &members[b]
		return lowest(x.Asked, y.Asked) != Asked{Group: group} || emit(Pair{x.Doc, y.Doc, score})
	}
	if p.By.Sets {
		return c.Sets.Pairs(ctx, p.By.T, setjoin.Options{}, one)
	}
	return c.Near(p.By.K).EachPair(ctx, func(a, b uint32, match float64) bool { return one(int(min(a, b)), int(max(a, b)), -match) })
}

// A Link means that two documents are in one component. A is the first document of B's component,
// as far as it is known.
type Link struct{ A, B uint64 }

// Links returns the links of a group.
func (p *Plan) Links(ctx context.Context, group uint64, members []Member) ([]Link, error) {
	members = distinct(members)
	if len(members) < 2 {
		return nil, nil
	}
	doc := func(i int) uint64 { return members[i].Doc }
	if !p.By.Sets {
		c, err := p.join(members)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		firsts, err := c.PrintComponents(ctx, p.By.K, selfjoin.Options{})
		return linksOf(firsts, doc), err
	}
	forest, compare := selfjoin.NewForest(len(members)), setjoin.Measure{}.Comparer(p.By.T)
	err := small(ctx, group, members, func(a, b uint32) bool {
		if forest.Find(a) != forest.Find(b) {
			if _, ok := compare(members[a].Elements, members[b].Elements); ok {
				forest.Union(a, b)
			}
		}
		return true
	})
	if err == nil {
		err = p.linkLarge(ctx, group, members, forest)
	}
	return linksOf(forest.Labels(), doc), err
}

// linkLarge is Links for the large cells of a group.
func (p *Plan) linkLarge(ctx context.Context, group uint64, members []Member, forest *selfjoin.Forest) error {
	some, at := large(group, members)
	if len(some) < 2 {
		return nil
	}
	c, err := p.join(some)
	if err != nil {
		return err
	}
	defer c.Close()
	own, parts := selfjoin.NewForest(len(some)), len(some)
	first := map[uint32]uint32{} // by root: the first index in some
	for i, n := range at {
		root := forest.Find(n)
		if f, ok := first[root]; !ok {
			first[root] = uint32(i)
		} else if own.Union(f, uint32(i)) {
			parts--
		}
	}
	if group >= p.Groups { // the group is one cell and may be a crowd, which has few keepers
		found, err := c.Sets.Stars(ctx, p.By.T, setjoin.Options{})
		if err != nil {
			return err
		}
		for i, keeper := range found.Keeper {
			if own.Union(uint32(i), keeper) {
				parts--
			}
		}
	}
	if parts > 1 {
		if err := c.Sets.Components(ctx, p.By.T, setjoin.Options{}, own); err != nil {
			return err
		}
	}
	for i, n := range at {
		forest.Union(at[own.Find(uint32(i))], n)
	}
	return nil
}

// linksOf returns the links between documents, in order, and the first documents of their
// components.
func linksOf(firsts []uint32, doc func(i int) uint64) (links []Link) {
	for i, root := range firsts {
		if uint32(i) != root {
			links = append(links, Link{doc(int(root)), doc(i)})
		}
	}
	return links
}

// Forest returns one Link for each document that is not the first of its component, ordered by B.
// It may be applied to the links of some groups, and again to its own results, in any order.
func Forest(links []Link) []Link {
	docs := make([]uint64, 0, 2*len(links))
	for _, l := range links {
		docs = append(docs, l.A, l.B)
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	forest := selfjoin.NewForest(len(docs))
	for _, l := range links {
		a, _ := slices.BinarySearch(docs, l.A)
		b, _ := slices.BinarySearch(docs, l.B)
		forest.Union(uint32(a), uint32(b))
	}
	return linksOf(forest.Labels(), func(i int) uint64 { return docs[i] })
}
