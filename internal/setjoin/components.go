package setjoin

import (
	"context"

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
	if j.index.crowds != nil && j.o.Accept == nil && (j.t.Kind == Jaccard || j.t.Kind == Contained) { // then what shares enough matches
		j.index.crowds.part = func(e uint32) uint32 { return forest.Root(j.index.sets[e]) }
		j.within.crowds.part = func(e uint32) uint32 { return forest.Root(j.items[j.within.sets[e]].set) }
	}
	return j.eachBlock(func(it *item) bool {
		for _, m := range it.matches {
			forest.Union(m.set, it.set)
		}
		it.matches = it.matches[:0]
		return true
	})
}
