package setjoin

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/simdb/simdb/internal/ordered"
)

// A Graph says which sets are similar, at a threshold: enough to form the star clusters of any
// threshold from that on, and of any order, without the sets. Equal sets are one node of it, so
// that n of them take n links, not n*(n-1)/2.
type Graph struct {
	Same  []uint32 // of each set: the one with the least number that is equal to it
	Pairs []Pair   // of similar sets that are not equal, by B, then by A
}

// A Pair is two similar sets, A below B. Each stands for all that are equal to it.
type Pair struct {
	A, B  uint32
	Score float64
}

// grapher collects a Graph while star clusters are formed. A set that is equal to an earlier one is
// not compared with others from there on.
type grapher struct {
	out   Graph
	most  int
	found atomic.Int64 // matches with sets of an index
}

func newGrapher(sets, most int) *grapher {
	g := &grapher{out: Graph{Same: make([]uint32, sets)}, most: most}
	for n := range g.out.Same {
		g.out.Same[n] = uint32(n)
	}
	return g
}

// equal reports whether a set is known to be equal to an earlier one.
func (g *grapher) equal(set uint32) bool { return g.out.Same[set] != set }

// foundShare is how many matches may be found for each pair that may be recorded. It bounds the
// memory of a window; most matches that are not recorded are those of equal sets.
const foundShare = 4

// over reports whether there are too many pairs.
func (g *grapher) over() bool {
	return len(g.out.Pairs) > g.most || g.found.Load() > foundShare*int64(g.most)
}

// take takes the matches of an item. Those of a known set are not taken, as it is a keeper whatever
// it is similar to.
func (g *grapher) take(it *item, known bool) {
	switch {
	case it.same():
		g.out.Same[it.set] = it.matches[len(it.matches)-1].set
	case !known:
		for _, m := range it.matches {
			g.out.Pairs = append(g.out.Pairs, Pair{m.set, it.set, m.score})
		}
	}
}

// graph returns the Graph. It does not depend on the order in which the sets were taken.
func (g *grapher) graph(ctx context.Context) (*Graph, error) {
	same := g.out.Same
	least := slices.Clone(same) // of each set that others are equal to: the least of them, and it
	for n, s := range same {
		least[s] = min(least[s], uint32(n))
	}
	for n, s := range same {
		same[n] = least[s]
	}
	return &g.out, g.out.Complete(ctx)
}

// Complete brings a Graph into the form that is described, where pairs may be of any sets, in any
// order, and come more than once. Same must be right.
func (g *Graph) Complete(ctx context.Context) error {
	for i, p := range g.Pairs {
		a, b := g.Same[p.A], g.Same[p.B]
		g.Pairs[i] = Pair{min(a, b), max(a, b), p.Score}
	}
	err := ordered.InPlace(ctx, g.Pairs, func(p, q Pair) int {
		return cmp.Or(cmp.Compare(p.B, q.B), cmp.Compare(p.A, q.A))
	})
	g.Pairs = slices.Compact(g.Pairs)
	return err
}

// AtLeast returns the Graph of a higher threshold. It shares memory with g, which is gone.
func (g *Graph) AtLeast(t float64) *Graph {
	return &Graph{g.Same, slices.DeleteFunc(g.Pairs, func(p Pair) bool { return p.Score < t })}
}

// Links has the pairs of a Graph by set, in both directions.
type Links struct {
	ends  []uint32 // of each set, in links
	links []uint32 // pairs, by number
	pairs []Pair
}

// Links returns the pairs by set.
func (g *Graph) Links() *Links {
	l := &Links{make([]uint32, len(g.Same)+1), make([]uint32, 2*len(g.Pairs)), g.Pairs}
	for _, p := range g.Pairs {
		l.ends[p.A+1]++
		l.ends[p.B+1]++
	}
	for n := range g.Same {
		l.ends[n+1] += l.ends[n]
	}
	next := slices.Clone(l.ends)
	for i, p := range g.Pairs {
		for _, set := range [2]uint32{p.A, p.B} {
			l.links[next[set]] = uint32(i)
			next[set]++
		}
	}
	return l
}

// Of yields the sets that a set, the least of its equals, is similar to, and how much, in ascending
// order.
func (l *Links) Of(set uint32) iter.Seq2[uint32, float64] {
	return func(yield func(uint32, float64) bool) {
		for _, i := range l.links[l.ends[set]:l.ends[set+1]] {
			p := &l.pairs[i]
			if !yield(p.A^p.B^set, p.Score) {
				return
			}
		}
	}
}

// Split takes the sets below known apart from their equals, except for one of each class, the first
// in the order, which all pairs of the class are with from then on. A nil order is that of the
// numbers. Sets that are known already have no matches with each other, so that the star clusters
// stay the same.
func (g *Graph) Split(ctx context.Context, order []uint32, known int) error {
	first := map[uint32]uint32{} // of a class with known sets: the one that stays
	for pos := range known {
		set := uint32(pos)
		if order != nil {
			set = order[pos]
		}
		if _, has := first[g.Same[set]]; !has {
			first[g.Same[set]] = set
		}
	}
	named := func(class uint32) uint32 {
		if set, has := first[class]; has {
			return set
		}
		return class
	}
	for i, p := range g.Pairs {
		g.Pairs[i] = Pair{named(p.A), named(p.B), p.Score}
	}
	for n, class := range g.Same {
		if g.Same[n] = named(class); n < known {
			g.Same[n] = uint32(n)
		}
	}
	return g.Complete(ctx)
}

// Stars forms the star clusters that Sets.Stars would with these Options, of which it uses Order,
// Known and Accept, at the threshold of the Graph. With Accept there must be no known sets that are
// equal and one class.
func (g *Graph) Stars(ctx context.Context, o Options) (Assignment, error) {
	n := len(g.Same)
	out := Assignment{Keeper: make([]uint32, n), Score: make([]float64, n)}
	// Of a class: the first set that is kept of it, and its position. With Accept there may be
	// more.
	keeper, at := make([]uint32, n), make([]uint32, n)
	for i := range keeper {
		keeper[i] = none
	}
	more := map[uint32][]match{} // of a class: its other keepers; the score is the position
	links := g.Links()
	// Of a class: the keeper of another class that it is most similar to, the first of several.
	// Keepers tell the classes that they are linked with, so that the many sets of a class need not
	// look at its many links.
	nearest := make([]match, n)
	keep := func(class, set, pos uint32) {
		if keeper[class] == none {
			keeper[class], at[class] = set, pos
		} else {
			more[class] = append(more[class], match{set, float64(pos)})
		}
		for other, score := range links.Of(class) {
			if score > nearest[other].score {
				nearest[other] = match{set, score}
			}
		}
	}
	for pos := range n {
		if pos%(1<<16) == 0 && ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		set := uint32(pos)
		if o.Order != nil {
			set = o.Order[pos]
		}
		class := g.Same[set]
		best, first := match{set: none}, uint32(0)
		accepts := func(other uint32) bool { return o.Accept == nil || o.Accept(int(other), int(set)) }
		compare := func(other, at uint32, score float64) {
			if (score > best.score || score == best.score && at < first) && accepts(other) {
				best, first = match{other, score}, at
			}
		}
		compareClass := func(class uint32, score float64) {
			if keeper[class] == none {
				return
			}
			compare(keeper[class], at[class], score)
			for _, m := range more[class] {
				compare(m.set, uint32(m.score), score)
			}
		}
		compareClass(class, 1)
		switch near := nearest[class]; {
		case best.set != none || pos < o.Known || near.score == 0:
		case accepts(near.set):
			best = near
		default:
			for other, score := range links.Of(class) {
				compareClass(other, score)
			}
		}
		if best.set == none {
			best = match{set, 1}
			keep(class, set, uint32(pos))
		}
		out.Keeper[set], out.Score[set] = best.set, best.score
	}
	return out, nil
}
