package rulejoin

import (
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/internal/pairrule"
)

// The values of atoms. What a document lacks is compared with unknown result, as in SQL.
const (
	isUnset uint8 = iota
	isTrue
	isFalse
	isUnknown
)

// costs order the kinds of atoms by the time of a test.
var costs = map[pairrule.Kind]int{
	pairrule.Equal: 0, pairrule.Near: 1, pairrule.Jaccard: 2, pairrule.Contains: 2, pairrule.Differ: 3, pairrule.Cosine: 4, pairrule.Levenshtein: 5,
}

// sortLiterals puts the literals of each branch into the order of tests.
func (c *Corpus) sortLiterals() {
	for _, branch := range c.rule.Branches {
		places := make([]int, len(branch))
		for i := range places {
			places[i] = i
		}
		slices.SortStableFunc(places, func(i, j int) int {
			return cmp.Compare(costs[c.rule.Atoms[branch[i].Atom].Kind], costs[c.rule.Atoms[branch[j].Atom].Kind])
		})
		c.order = append(c.order, places)
	}
}

// A tester evaluates the rule for two classes. It is not safe for concurrent use.
type tester struct {
	c     *Corpus
	state []uint8 // by atom, for the current pair
	score []float64
	judge []func(a, b uint32) (float64, bool, error) // by atom; nil for equalities

	counting bool // differences are counted: branches hold whether or not they recur
}

func (c *Corpus) tester(ctx context.Context) *tester {
	t := &tester{c: c, state: make([]uint8, len(c.rule.Atoms)), score: make([]float64, len(c.rule.Atoms)), judge: make([]func(a, b uint32) (float64, bool, error), len(c.rule.Atoms))}
	for i := range c.rule.Atoms {
		if a := &c.rule.Atoms[i]; a.Kind != pairrule.Equal && a.Kind != pairrule.Differ {
			t.judge[i] = c.views[c.viewOf[i]].judge(ctx, a)
		}
	}
	return t
}

// judge returns a function that compares two classes by a similarity. It is fastest while the first
// one stays the same.
func (v *view) judge(ctx context.Context, a *pairrule.Atom) func(a, b uint32) (float64, bool, error) {
	switch a.Kind {
	case pairrule.Near:
		return func(x, y uint32) (float64, bool, error) {
			d := v.Distance(x, y)
			return v.nearness(d), d <= a.K, nil
		}
	case pairrule.Jaccard, pairrule.Contains:
		reader, compare := v.Sets.Reader(), v.by.Measure.Comparer(a.T)
		var one, other []uint64
		last := int64(-1)
		return func(x, y uint32) (score float64, ok bool, err error) {
			if last != int64(x) {
				if one, err = reader.Append(one[:0], int(x)); err != nil {
					return 0, false, err
				}
				last = int64(x)
			}
			if other, err = reader.Append(other[:0], int(y)); err != nil {
				return 0, false, err
			}
			score, ok = compare(one, other)
			return score, ok, nil
		}
	}
	judge := v.Judges(ctx, a.T)()
	return func(x, y uint32) (float64, bool, error) { return judge.Compare(int(x), int(y)) }
}

// nearness is the score of a distance: the share of equal bits.
func (v *view) nearness(distance int) float64 {
	return 1 - float64(distance)/float64(64*len(v.Fingerprints))
}

// value returns the value of an atom, and the score of a similarity that is true.
func (t *tester) value(atom int, a, b uint32) (uint8, error) {
	if t.state[atom] != isUnset {
		return t.state[atom], nil
	}
	value := isFalse
	if x := t.c.columns[atom]; x != nil {
		switch k, l := x.keys[a], x.keys[b]; {
		case k == unknown || l == unknown:
			value = isUnknown
		case k == l:
			value = isTrue
		}
		t.score[atom] = 1
	} else if x := t.c.differs[atom]; x != nil {
		holds, err := x.holds(a, b)
		if err != nil {
			return 0, err
		}
		if t.score[atom] = 1; holds {
			value = isTrue
		}
	} else if v := t.c.views[t.c.viewOf[atom]]; v.Empty(a) || v.Empty(b) {
		value = isUnknown
	} else {
		score, ok, err := t.judge[atom](a, b)
		if err != nil {
			return 0, err
		}
		if t.score[atom] = score; ok {
			value = isTrue
		}
	}
	t.state[atom] = value
	return value, nil
}

// branch returns whether a branch holds, and its score: the least similarity, where equalities and
// negations count as 1.
func (t *tester) branch(n int, a, b uint32) (score float64, ok bool, err error) {
	score = 1
	branch := t.c.rule.Branches[n]
	for _, place := range t.c.order[n] {
		l := branch[place]
		if x := t.c.differs[l.Atom]; t.counting && x != nil && x.swaps == nil {
			continue
		}
		value, err := t.value(l.Atom, a, b)
		if err != nil || l.Not && value != isFalse || !l.Not && value != isTrue {
			return 0, false, err
		}
		if !l.Not {
			score = min(score, t.score[l.Atom])
		}
	}
	return score, true, nil
}

// begin forgets the values of the previous pair.
func (t *tester) begin() { clear(t.state) }

// found returns the score of a pair that the join of a branch has listed: the greatest one of the
// branches that hold. ok is false if the branch does not hold, or an earlier one does, whose join
// lists the pair as well.
func (t *tester) found(by int, a, b uint32) (score float64, ok bool, err error) {
	score, ok, err = t.branch(by, a, b)
	if err != nil || !ok {
		return 0, false, err
	}
	for n := range t.c.rule.Branches {
		if n == by {
			continue
		}
		s, holds, err := t.branch(n, a, b)
		if err != nil || holds && n < by {
			return 0, false, err
		}
		if holds {
			score = max(score, s)
		}
	}
	return score, true, nil
}

// Match returns a function that compares two documents. It is not safe for concurrent use.
func (c *Corpus) Match(ctx context.Context) func(a, b uint32) (score float64, ok bool, err error) {
	t := c.tester(ctx)
	return func(a, b uint32) (float64, bool, error) { return t.match(c.of[a], c.of[b]) }
}

// match returns whether two classes match, or the documents of one, and their score.
func (t *tester) match(a, b uint32) (score float64, ok bool, err error) {
	t.begin()
	a, b = min(a, b), max(a, b)
	for n := range t.c.rule.Branches {
		s, holds, err := t.branch(n, a, b)
		if err != nil {
			return 0, false, err
		}
		if holds {
			score, ok = max(score, s), true
		}
	}
	return score, ok, nil
}
