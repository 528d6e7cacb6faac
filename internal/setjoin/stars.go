package setjoin

import "context"

// Assignment is what star clusters are: for each set its keeper, and the Jaccard similarity of the
// two, which is 1 for a keeper, itself its keeper.
type Assignment struct {
	Keeper []uint32
	Score  []float64
}

// Stars takes the sets in order of preference. Each joins the keeper so far that it is most similar
// to, of equally similar ones the first, if that similarity is at least t; or it becomes a keeper
// itself. So does an empty set.
func (s *Sets) Stars(ctx context.Context, t float64, o Options) (Assignment, error) {
	j, err := newJoin(ctx, s, t, o)
	if err != nil {
		return Assignment{}, err
	}
	n := s.Len()
	x := &stars{join: j, out: Assignment{make([]uint32, n), make([]float64, n)}}
	for i := range n {
		x.out.Keeper[i] = none
	}
	for pos := 0; pos < n; {
		if pos, err = x.block(pos); err != nil {
			return Assignment{}, err
		}
	}
	return x.out, nil
}

// stars is one run of Stars. Until a set is decided, out has the best keeper that it has been
// compared with, or none.
type stars struct {
	*join
	out Assignment
}

// block decides sets from pos on until the index is full. Then it compares all others with the
// index. It returns the position of the first of these.
func (x *stars) block(pos int) (int, error) {
	x.index.reset()
	for begin := pos; pos < x.s.Len() && (pos == begin || x.index.bytes() < x.o.Memory); {
		end, err := x.load(pos, x.recall)
		if err != nil {
			return pos, err
		}
		x.decide(pos)
		x.report(end-pos, x.s.Len()-end)
		pos = end
	}
	for at := pos; at < x.s.Len(); {
		end, err := x.load(at, x.recall)
		if err != nil {
			return pos, err
		}
		for n := range x.items {
			x.keep(&x.items[n])
		}
		x.report(end-at, x.s.Len()-end+x.s.Len()-pos)
		at = end
	}
	return pos, nil
}

// recall gives an item what is known from the blocks before.
func (x *stars) recall(_ *worker, it *item) {
	it.best = match{x.out.Keeper[it.set], x.out.Score[it.set]}
}

func (x *stars) keep(it *item) {
	x.out.Keeper[it.set], x.out.Score[it.set] = it.best.set, it.best.score
}

// decide decides the items of a window, which begins at a position, in order, and makes entries of
// the keepers.
func (x *stars) decide(pos int) {
	x.within.reset()
	for n := range x.items {
		it := &x.items[n]
		if it.best.score < 1 || it.best.set == none {
			x.pair(it)
		}
		if pos+n < x.o.Known && it.best.score < 1 {
			it.best.set = none
		}
		if it.best.set == none {
			it.best = match{it.set, 1}
			x.within.add(uint32(n), &it.prefix)
		}
		x.keep(it)
	}
	for entry := range x.within.sets {
		it := &x.items[x.within.sets[entry]]
		x.index.add(it.set, &it.prefix)
	}
}
