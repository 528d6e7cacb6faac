package setjoin

import (
	"context"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
)

// Components connects the sets of all pairs that match in a forest, which has a number for each set
// and may connect some already. A set is compared with no other one that it is connected with, nor
// with more than one, if that matches, of those that are connected with each other. So a crowd
// takes few comparisons, however many pairs match.
func (s *Sets) Components(ctx context.Context, t float64, o Options, forest *selfjoin.Forest) error {
	j, err := newJoin(ctx, s, t, o)
	if err != nil {
		return err
	}
	return j.connect(forest)
}

// connect is Components of a join.
func (j *join) connect(forest *selfjoin.Forest) error {
	j.all, j.forest = true, forest
	if j.o.Accept == nil && j.t.Kind == Jaccard {
		j.twins = map[uint64]twin{}
		for _, w := range j.workers {
			w.prefixer.sums = true
		}
	}
	if j.index.crowds != nil && j.o.Accept == nil && (j.t.Kind == Jaccard || j.t.Kind == Contained) { // then what shares enough matches
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

// A twin is a member of a crowd in the index. A set that has the same elements, but for those that
// no other set has, and no fewer of these, matches nothing that the twin does not match, too. So if
// it matches the twin, it is compared with nothing else. Twins are found by the sum of what they
// share with others.
type twin struct {
	set          uint32
	size, shared int
}

// addTwin makes an item one.
func (j *join) addTwin(it *item) {
	p := &it.prefix
	if y, ok := j.twins[p.sum]; !ok || p.size < y.size {
		j.twins[p.sum] = twin{it.set, p.size, p.size - p.alone}
	}
}

// isTwin reports whether an item need not be compared with others than its twin, which it matches.
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
