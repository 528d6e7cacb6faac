package setjoin

import "context"

// Pairs calls emit for all pairs of sets whose Jaccard similarity is at least t, a before b in
// the order of preference, until it returns false. The order of pairs does not depend on the
// number of workers. Very similar sets have very many pairs: n equal sets have n*(n-1)/2.
func (s *Sets) Pairs(ctx context.Context, t float64, o Options, emit func(a, b int, score float64) bool) error {
	j, err := newJoin(ctx, s, t, o)
	if err != nil {
		return err
	}
	j.all = true
	if err := j.count(); err != nil {
		return err
	}
	return j.eachBlock(func(it *item) bool {
		for _, m := range it.matches {
			if !emit(int(m.set), int(it.set), m.score) {
				return false
			}
		}
		return true
	})
}

// eachBlock compares all sets with each other. It calls give for every set, in order, with its
// matches in an index or a window, until give returns false.
func (j *join) eachBlock(give func(it *item) bool) error {
	n, goOn := j.len(), true
	for pos := 0; pos < n && goOn; {
		j.index.reset()
		clear(j.twins)
		for begin := pos; pos < n && goOn && (pos == begin || j.hasRoom()); {
			end, err := j.load(pos, collect)
			if err == nil {
				goOn, err = j.pairWithin(give)
			}
			if err != nil {
				return err
			}
			j.report(end-pos, n-end)
			pos = end
		}
		for at := pos; at < n && goOn; {
			end, err := j.load(at, collect)
			if err != nil {
				return err
			}
			for i := 0; i < len(j.items) && goOn; i++ {
				goOn = give(&j.items[i])
			}
			j.report(end-at, n-end+n-pos)
			at = end
		}
	}
	return nil
}

func collect(_ *worker, it *item) { it.matches = []match{} }

// pairWithin finds the pairs within the window, passes those of each item to give as they are
// found, and adds all items as entries.
func (j *join) pairWithin(give func(it *item) bool) (goOn bool, err error) {
	j.within.reset()
	for n := range j.items {
		it := &j.items[n]
		if j.forest != nil { // so that it is compared with fewer sets
			give(it)
		}
		if it.twin {
			continue
		}
		if err := j.passes(it, &j.within, j.pair); err != nil {
			return false, err
		}
		if !give(it) {
			return false, nil
		}
		it.matches = nil
		j.within.add(uint32(n), &it.prefix)
	}
	for n := range j.items {
		if it := &j.items[n]; !it.twin && j.index.add(it.set, &it.prefix) && j.twins != nil {
			j.addTwin(it)
		}
	}
	return true, nil
}
