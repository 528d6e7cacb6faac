package setjoin

import (
	"context"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
)

// Components joins all sets that match in a forest, which has a number for each set and may
// already connect some sets. A set is never compared with a set it is connected to; once it
// matches a set of a component, it is not compared with the rest of that component. So a crowd
// needs few comparisons, however many pairs match.
func (s *Sets) Components(ctx context.Context, t float64, o Options, forest *selfjoin.Forest) error {
	j, err := newJoin(ctx, s, t, o)
	if err != nil {
		return err
	}
	return j.connect(forest)
}

// connect is Components for a join.
func (j *join) connect(forest *selfjoin.Forest) error {
	j.all, j.forest = true, forest
	if err := j.count(); err != nil {
		return err
	}
	if j.o.Accept == nil && j.t.Kind == Jaccard {
		j.twins = map[uint64]twin{}
		for _, w := range j.workers {
			w.prefixer.sums = true
		}
	}
	if j.index.crowds != nil && j.o.Accept == nil && (j.t.Kind == Jaccard || j.t.Kind == Contained) { // only then does every candidate with enough overlap match
		j.index.crowds.part = func(e uint32) uint32 { return forest.Root(j.index.sets[e]) }
		j.within.crowds.part = func(e uint32) uint32 { return forest.Root(j.items[j.within.sets[e]].set) }
	}
	if j.t.Kind == Cosine {
		j.index.least, j.within.least = 4*j.o.crowd, 4*j.o.crowd
		j.index.part = forest.Root
		j.within.part = func(n uint32) uint32 { return forest.Root(j.items[n].set) }
	}
	return j.eachBlock(func(it *item) bool {
		for _, m := range it.matches {
			forest.Union(m.set, it.set)
		}
		it.matches = it.matches[:0]
		return true
	})
}

// A twin is a member of a crowd in the index. If a set has the same elements as its twin, apart
// from elements that no other set has, and at least as many of the latter, then the twin also
// matches every other set that the set matches. A set that matches its twin is therefore compared
// with nothing else. Twins are found by the sum of the elements that they share with others.
type twin struct {
	set          uint32
	size, shared int
}

// addTwin makes an item a twin for later items.
func (j *join) addTwin(it *item) {
	p := &it.prefix
	if y, ok := j.twins[p.sum]; !ok || p.size < y.size {
		j.twins[p.sum] = twin{it.set, p.size, p.size - p.alone}
	}
}

// isTwin reports whether an item matches its twin, and so needs no other comparison.
func (w *worker) isTwin(it *item) (bool, error) {
	p := &it.prefix
	y, ok := w.twins[p.sum]
	if !ok || y.size > p.size || y.shared != p.size-p.alone {
		return false, nil
	}
	hashes, err := w.set(y.set, y.size)
	if err != nil || ordered.Common(it.hashes, hashes, w.t.need(p.size, y.size)) != y.shared {
		return false, err
	}
	it.matches = append(it.matches, match{w.part(y.set), 1})
	return true, nil
}
