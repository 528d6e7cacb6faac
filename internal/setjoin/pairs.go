package setjoin

import "context"

// Pairs calls emit for all pairs of sets whose Jaccard similarity is at least t, a before b in the
// order of preference, until it returns false. The order of pairs does not depend on the number of
// workers. Very similar sets have very many pairs: n equal ones n*(n-1)/2.
func (s *Sets) Pairs(ctx context.Context, t float64, o Options, emit func(a, b int, score float64) bool) error {
	j, err := newJoin(ctx, s, t, o)
	if err != nil {
		return err
	}
	j.all = true
	goOn := true
	give := func() {
		for n := range j.items {
			it := &j.items[n]
			for _, m := range it.matches {
				if goOn = goOn && emit(int(m.set), int(it.set), m.score); !goOn {
					return
				}
			}
		}
	}
	for pos := 0; pos < s.Len() && goOn; {
		j.index.reset()
		for begin := pos; pos < s.Len() && goOn && (pos == begin || j.hasRoom()); {
			end, err := j.load(pos, collect)
			if err != nil {
				return err
			}
			if err := j.pairWithin(); err != nil {
				return err
			}
			give()
			j.report(end-pos, s.Len()-end)
			pos = end
		}
		for at := pos; at < s.Len() && goOn; {
			end, err := j.load(at, collect)
			if err != nil {
				return err
			}
			give()
			j.report(end-at, s.Len()-end+s.Len()-pos)
			at = end
		}
	}
	return nil
}

// collect has the matches of an item collected.
func collect(_ *worker, it *item) { it.matches = []match{} }

// pairWithin finds the pairs within the window, and makes entries of all its items.
func (j *join) pairWithin() error {
	j.within.reset()
	for n := range j.items {
		it := &j.items[n]
		if err := j.pair(it, &j.within); err != nil {
			return err
		}
		j.within.add(uint32(n), &it.prefix)
	}
	for n := range j.items {
		j.index.add(j.items[n].set, &j.items[n].prefix)
	}
	j.settle(&j.index)
	return nil
}
