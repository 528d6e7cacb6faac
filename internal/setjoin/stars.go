package setjoin

import "context"

// Stars processes the sets in the order of preference. Each set joins the most similar keeper so
// far, the first of equally similar ones, if the similarity is at least t; otherwise it becomes a
// keeper. An empty set becomes a keeper, too.
func (s *Sets) Stars(ctx context.Context, t float64, o Options) (Assignment, error) {
	j, err := newJoin(ctx, s, t, o)
	if err == nil {
		err = j.count()
	}
	if err != nil {
		return Assignment{}, err
	}
	x := s.newStars(j)
	for pos := 0; pos < s.Len(); {
		if pos, err = x.block(pos); err != nil {
			return Assignment{}, err
		}
	}
	return x.out, nil
}

// StarsAmong is Stars for sets that match only if one is offered to the other. offer must call
// decide for each place in the order, from the first on, with the earlier places of the keepers
// that may match; the result says whether the set becomes a keeper. Sets that are not in the
// order are their own keepers.
func (s *Sets) StarsAmong(ctx context.Context, t float64, o Options, offer func(decide func(p uint32, keepers []uint32) (keep bool, err error)) error) (Assignment, error) {
	x := s.newStars(&join{s: s, ctx: ctx, t: s.o.Measure.threshold(t), o: o})
	for i := range x.out.Keeper {
		x.keep(&item{set: uint32(i), best: match{uint32(i), 1}})
	}
	w := &worker{join: x.join, reader: s.Reader(), keepers: s.Reader()}
	err := offer(func(p uint32, keepers []uint32) (keep bool, err error) {
		it := &item{set: x.at(int(p)), best: match{set: none}}
		if w.hashes, err = w.reader.Append(w.hashes[:0], int(it.set)); err != nil {
			return false, err
		}
		it.hashes = w.hashes
		for _, q := range keepers {
			set := x.at(int(q))
			if it.decided() || len(it.hashes) == 0 {
				break
			}
			hashes, err := w.set(set, s.Size(int(set)))
			if err != nil {
				return false, err
			}
			if _, err = x.compare(nil, it, nil, 0, set, hashes); err != nil {
				return false, err
			}
		}
		keep = x.choose(it, int(p))
		x.keep(it)
		return keep, nil
	})
	return x.out, err
}

// stars is one run of Stars. Until a set is decided, out has the best keeper that it has been
// compared with, or none.
type stars struct {
	*join
	out Assignment
	had map[uint32]bool // for Options.Same: numbers that have a keeper
}

func (s *Sets) newStars(j *join) *stars {
	n := s.Len()
	x := &stars{join: j, out: Assignment{Keeper: make([]uint32, n), Score: make([]float64, n)}, had: map[uint32]bool{}}
	for i := range n {
		x.out.Keeper[i] = none
	}
	return x
}

// again reports whether an equal set with the same number has become a keeper before.
func (x *stars) again(set uint32) bool {
	if x.o.Same == nil {
		return false
	}
	same := x.o.Same[set]
	had := x.had[same]
	x.had[same] = true
	return had
}

// block decides sets from pos on until the index is full. Then it compares all remaining sets
// with the index. It returns the position of the first of these.
func (x *stars) block(pos int) (int, error) {
	x.index.reset()
	for begin := pos; pos < x.s.Len() && (pos == begin || x.hasRoom()); {
		end, err := x.load(pos, x.recall)
		if err != nil {
			return pos, err
		}
		if err := x.decide(pos); err != nil {
			return pos, err
		}
		x.report(end-pos, x.s.Len()-end)
		pos = end
	}
	for at := pos; at < x.s.Len(); {
		end, err := x.load(at, x.recall)
		if err != nil {
			return pos, err
		}
		for n := range x.items {
			it := &x.items[n]
			if x.always(at + n) {
				it.best = match{set: none}
			}
			if it.best.set == none && it.prefix.unique() {
				it.best = match{it.set, 1} // so that no later block reads it again
			}
			x.keep(it)
		}
		x.report(end-at, x.s.Len()-end+x.s.Len()-pos)
		at = end
	}
	return pos, nil
}

// recall sets an item's best keeper to the result of earlier blocks.
func (x *stars) recall(_ *worker, it *item) {
	it.best = match{x.out.Keeper[it.set], x.out.Score[it.set]}
}

func (x *stars) keep(it *item) {
	x.out.Keeper[it.set], x.out.Score[it.set] = it.best.set, it.best.score
}

// choose makes an item at a position a keeper if it has joined none; a known item becomes a
// keeper unless it equals one that Accept treats alike. It reports whether other sets are compared
// with it.
func (x *stars) choose(it *item, pos int) bool {
	if pos < x.o.Known && (it.best.score < 1 || x.always(pos)) {
		it.best.set = none
	}
	if it.best.set != none {
		return false
	}
	it.best = match{it.set, 1}
	return (pos < x.o.Known || !x.o.OnlyKnown) && !x.again(it.set)
}

// always reports whether a set becomes a keeper whatever it resembles: a known one, if sets that it
// equals may match others than it does.
func (x *stars) always(pos int) bool { return pos < x.o.Known && x.o.Same != nil }

// decide decides the items of a window, which begins at pos, in order, and adds the keepers as
// entries.
func (x *stars) decide(pos int) error {
	x.within.reset()
	for n := range x.items {
		it := &x.items[n]
		if it.best.score < 1 || it.best.set == none {
			if err := x.pair(it); err != nil {
				return err
			}
		}
		if x.choose(it, pos+n) {
			x.within.add(uint32(n), &it.prefix)
		}
		x.keep(it)
	}
	for _, n := range x.within.sets {
		x.index.add(x.items[n].set, &x.items[n].prefix)
	}
	return nil
}
