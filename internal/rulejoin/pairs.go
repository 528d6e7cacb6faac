package rulejoin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/pairrule"
)

// An edge is two classes whose documents match.
type edge struct {
	a, b  uint32
	score float64
}

// JoinOptions are the options of joins.
type JoinOptions struct {
	corpus.JoinOptions
	Plan func(drivers []Driver) // receives the drivers before the join; or nil

	apart []uint32 // by class: classes with the same number are not compared; or nil
}

// edges calls emit for all pairs of different classes that match, until it returns false.
func (c *Corpus) edges(ctx context.Context, o JoinOptions, emit func(e edge) bool) error {
	drivers, err := c.Plan()
	if err != nil {
		return err
	}
	if o.Plan != nil {
		o.Plan(drivers)
	}
	if err := c.countDifferences(ctx, drivers, o); err != nil {
		return err
	}
	t := c.tester(ctx)
	return c.list(ctx, drivers, o, t, func(d *Driver, a, b uint32) (bool, error) {
		score, ok, err := t.found(d.Branch, a, b)
		return err != nil || !ok || emit(edge{a, b, score}), err
	})
}

// list calls test for all pairs of different classes that drivers list, until it returns false.
func (c *Corpus) list(ctx context.Context, drivers []Driver, o JoinOptions, t *tester, test func(d *Driver, a, b uint32) (bool, error)) error {
	for i := range drivers {
		d, going := &drivers[i], true
		list := c.similar
		if d.Join < 0 {
			list = c.equal
		}
		err := list(ctx, d, o, t, func(a, b uint32) (_ bool, err error) {
			going, err = test(d, min(a, b), max(a, b))
			return going, err
		})
		if err != nil || !going {
			return err
		}
	}
	return nil
}

// equal calls test for the pairs of classes that are equal in columns.
func (c *Corpus) equal(ctx context.Context, d *Driver, o JoinOptions, t *tester, test func(a, b uint32) (bool, error)) error {
	of, _ := c.groups(d.Equal)
	n := uint32(0)
	for _, number := range of {
		n = max(n, number+1)
	}
	first, items := grouped(of, n)
	for group := range n {
		o.sort(items[first[group]:first[group+1]])
	}
	tests, done := 0, int64(0)
	for group := range n {
		members := items[first[group]:first[group+1]]
		for i, a := range members {
			for _, b := range o.others(members, i) {
				t.begin()
				if going, err := test(a, b); err != nil || !going {
					return err
				}
				if tests++; tests%4096 == 0 {
					if err := context.Cause(ctx); err != nil {
						return err
					}
					o.Progress(engine.Progress{Stage: "join", Done: done, Total: int64(c.n), Unit: "documents"})
				}
			}
			done++
		}
	}
	return context.Cause(ctx)
}

// sort puts classes with the same number beside each other.
func (o *JoinOptions) sort(classes []uint32) {
	if o.apart != nil {
		slices.SortFunc(classes, func(a, b uint32) int { return cmp.Or(cmp.Compare(o.apart[a], o.apart[b]), cmp.Compare(a, b)) })
	}
}

// others returns the sorted classes after one that it is compared with.
func (o *JoinOptions) others(classes []uint32, of int) []uint32 {
	if o.apart == nil {
		return classes[of+1:]
	}
	number := o.apart[classes[of]]
	return classes[sort.Search(len(classes), func(i int) bool { return o.apart[classes[i]] > number }):]
}

// similar calls test for the pairs of classes that are similar by an atom.
func (c *Corpus) similar(ctx context.Context, d *Driver, o JoinOptions, t *tester, test func(a, b uint32) (bool, error)) error {
	v := c.views[c.viewOf[d.Join]]
	by := criterionOf(&c.rule.Atoms[d.Join])
	l := &corpus.Listing{Corpus: v.Corpus}
	if v.Groups = nil; d.Equal != nil || o.apart != nil {
		v.Groups = &collection.Groups{Within: d.Equal != nil, Across: o.apart != nil, Of: make([]collection.Group, c.n)}
		for i, number := range o.apart {
			v.Groups.Of[i].Across = number
		}
	}
	if d.Equal != nil {
		of, _ := c.groups(d.Equal)
		for i, in := range of {
			v.Groups.Of[i].In = in
		}
	}
	near := c.rule.Atoms[d.Join].Kind == pairrule.Near
	for p, err := range l.Pairs(ctx, by, true, o.JoinOptions) {
		if err != nil {
			return err
		}
		t.begin()
		t.state[d.Join], t.score[d.Join] = isTrue, p.Match
		if near {
			t.score[d.Join] = v.nearness(int(-p.Match))
		}
		if going, err := test(p.A, p.B); err != nil || !going {
			return err
		}
	}
	return nil
}

// edgeBytes is the memory of an edge: the edge, its two places in lists of neighbours, and a growing
// slice.
const edgeBytes = 40

// TooMany is the error for edges that do not fit into memory.
func TooMany() error {
	return fmt.Errorf("the rule matches more pairs than fit into the memory of the run: give more (%s), or a stricter rule: %w", option.Name("Memory"), engine.ErrTooLarge)
}

// all returns all edges.
func (c *Corpus) all(ctx context.Context, o JoinOptions) (found []edge, err error) {
	left := max(o.Memory/4/edgeBytes, 1)
	err = c.edges(ctx, o, func(e edge) bool {
		if left--; left >= 0 {
			found = append(found, e)
		}
		return left >= 0
	})
	if err == nil && left < 0 {
		err = TooMany()
	}
	return found, err
}

// selfScores returns by class the score of two of its documents; a negative one if they do not match.
func (c *Corpus) selfScores(ctx context.Context) ([]float64, error) {
	t, scores := c.tester(ctx), make([]float64, c.n)
	for n := range c.n {
		if scores[n] = -1; len(c.class(n)) < 2 {
			continue
		}
		score, ok, err := t.match(n, n)
		if err != nil {
			return nil, err
		}
		if ok {
			scores[n] = score
		}
	}
	return scores, nil
}

// Pairs calls emit for all pairs of documents that match, until it returns false. a is less than b.
func (c *Corpus) Pairs(ctx context.Context, o JoinOptions, emit func(a, b uint32, score float64) bool) error {
	scores, err := c.selfScores(ctx)
	if err != nil {
		return err
	}
	for n, score := range scores {
		docs := c.class(uint32(n))
		for i := 0; score >= 0 && i < len(docs); i++ {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			for _, b := range docs[i+1:] {
				if !emit(docs[i], b, score) {
					return nil
				}
			}
		}
	}
	return c.edges(ctx, o, func(e edge) bool {
		for _, a := range c.class(e.a) {
			for _, b := range c.class(e.b) {
				if !emit(min(a, b), max(a, b), e.score) {
					return false
				}
			}
		}
		return ctx.Err() == nil
	})
}

// Count returns how many pairs of documents match. It needs no time for pairs of equal documents.
func (c *Corpus) Count(ctx context.Context, o JoinOptions) (n int64, err error) {
	scores, err := c.selfScores(ctx)
	if err != nil {
		return 0, err
	}
	for class, score := range scores {
		if m := int64(len(c.class(uint32(class)))); score >= 0 {
			n += m * (m - 1) / 2
		}
	}
	err = c.edges(ctx, o, func(e edge) bool {
		n += int64(len(c.class(e.a))) * int64(len(c.class(e.b)))
		return true
	})
	return n, err
}

// Across calls emit for all matching pairs of a document below known, a, and another one, b, until
// it returns false.
func (c *Corpus) Across(ctx context.Context, known uint32, o JoinOptions, emit func(a, b uint32, score float64) bool) error {
	sides := make([]uint8, c.n) // bit 0: has documents below known; bit 1: others
	for doc, class := range c.of {
		if uint32(doc) < known {
			sides[class] |= 1
		} else {
			sides[class] |= 2
		}
	}
	product := func(x, y uint32, score float64) bool {
		for _, a := range c.class(x) {
			for _, b := range c.class(y) {
				if a < known && b >= known && !emit(a, b, score) {
					return false
				}
			}
		}
		return true
	}
	self, err := c.selfScores(ctx)
	if err != nil {
		return err
	}
	for n, score := range self {
		if score >= 0 && sides[n] == 3 && !product(uint32(n), uint32(n), score) {
			return nil
		}
	}
	o.apart = make([]uint32, c.n)
	for class, side := range sides {
		if o.apart[class] = uint32(side); side == 3 {
			o.apart[class] += uint32(class) // it is compared with all others
		}
	}
	return c.edges(ctx, o, func(e edge) bool {
		return product(e.a, e.b, e.score) && product(e.b, e.a, e.score) && ctx.Err() == nil
	})
}
