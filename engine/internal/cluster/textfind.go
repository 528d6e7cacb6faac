package cluster

import (
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/textsim"
)

// A textFind is a join of the texts of items.
type textFind struct {
	j     *joinSet
	ctx   context.Context
	by    view.Criterion
	items []uint32 // by number in the join
}

// measure returns what the sets of the join stand for, and at most how many elements they have.
func (f *textFind) measure() (m setjoin.Measure, elements int64) {
	switch f.by.Text {
	case view.Levenshtein:
		m = setjoin.Measure{Kind: setjoin.Edits, Q: setjoin.EditGrams(f.by.T)}
	case view.Cosine:
		m = setjoin.Measure{Kind: setjoin.Cosine}
	}
	for _, i := range f.items {
		elements += int64(f.j.text.elements[f.j.text.of[i]])
	}
	return m, elements
}

// sets returns the sets of the join. They are made of the texts as often as they are read, so that
// they take no memory, unless they are few and needed for each comparison.
func (f *textFind) sets() (*setjoin.Sets, error) {
	m, elements := f.measure()
	again := func() func([]uint64, int) ([]uint64, error) { return f.reader(m) }
	most := f.j.v.Memory / 8
	o := setjoin.SetsOptions{Measure: m, Counters: max(min(elements/4, most), 1<<20)}
	if m.Kind != setjoin.Cosine || elements*8 > most {
		o.Again = again
	}
	sets := setjoin.NewSets(o)
	read := again()
	var set []uint64
	for i := range f.items {
		if i%checkEvery == 0 && f.ctx.Err() != nil {
			return nil, f.ctx.Err()
		}
		var err error
		if set, err = read(set[:0], i); err == nil {
			err = sets.Add(set)
		}
		if err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// reader returns what appends the elements of a set.
func (f *textFind) reader(m setjoin.Measure) func(dst []uint64, i int) ([]uint64, error) {
	var scratch []byte
	var held *setjoin.Reader
	var add func(dst []uint64, text []byte) []uint64
	if m.Kind == setjoin.Jaccard {
		held = f.j.text.held.Reader()
		shingles := f.j.v.Texts.Shingler()
		add = func(dst []uint64, text []byte) []uint64 { return append(dst, shingles.Brief(text)...) }
	} else {
		var set setjoin.Elements
		add = func(dst []uint64, text []byte) []uint64 { return set.Append(dst, string(text), m) }
	}
	return func(dst []uint64, i int) ([]uint64, error) {
		if n := f.j.text.of[f.items[i]]; held != nil && int(n) < f.j.text.held.Len() {
			return held.Append(dst, int(n))
		}
		err := f.safely(func() error {
			text, err := f.j.textOf(f.items[i], &scratch)
			if err == nil {
				dst = add(dst, text)
			}
			return err
		})
		return dst, err
	}
}

// options returns the options of the join.
func (f *textFind) options(progress func(view.Progress)) setjoin.Options {
	o := setjoin.Options{Memory: f.j.v.Memory / 4}
	o.Judge = func() setjoin.Judge { return &textJudge{textFind: f} }
	if told := progressOf(len(f.items), progress); told != nil {
		o.Progress = func(done, total int) { told(int64(done), int64(total)) }
	}
	return o
}

// safely calls fn, which reads texts: from tables, unless they are held.
func (f *textFind) safely(fn func() error) error {
	if f.j.text.ends != nil {
		return fn()
	}
	return f.j.v.Safely(f.ctx, fn)
}

// textJudge compares the texts of items: it is a setjoin.Judge.
type textJudge struct {
	*textFind
	one           uint32 // the item that others are compared with
	with          textsim.Compare
	mine, scratch []byte
}

// Compare compares the texts of two items of the join.
func (t *textJudge) Compare(a, b int) (score float64, ok bool, err error) {
	return t.compare(t.items[a], t.items[b])
}

// compare compares the texts of two items.
func (t *textJudge) compare(a, b uint32) (score float64, ok bool, err error) {
	err = t.safely(func() error {
		if t.with == nil || t.one != a {
			text, err := t.j.textOf(a, &t.mine)
			if err != nil {
				return err
			}
			start := textsim.Levenshtein
			if t.by.Text == view.Cosine {
				start = textsim.Cosine
			}
			t.one, t.with = a, start(string(text), t.by.T)
		}
		text, err := t.j.textOf(b, &t.scratch)
		if err == nil {
			score, ok = t.with(t.ctx, text)
			err = t.ctx.Err()
		}
		return err
	})
	return score, ok, err
}

// eachTextPair calls fn for all pairs of different sets that match by their texts, by their
// first items, until it returns false: always in the same order.
func (j *joinSet) eachTextPair(ctx context.Context, by view.Criterion, progress func(view.Progress), fn func(*sketchPair) bool) error {
	f := &textFind{j: j, ctx: ctx, by: by, items: j.distinct()}
	sets, err := f.sets()
	if err != nil {
		return err
	}
	return sets.Pairs(ctx, by.T, f.options(progress), func(a, b int, score float64) bool {
		return fn(exactPair(f.items[a], f.items[b], score))
	})
}

// textStars takes the documents in order of preference: each joins the most similar keeper so far,
// of equally similar ones the first, or becomes one.
func (c *clustering) textStars(ctx context.Context, order []uint32, by view.Criterion, o *Options) ([]uint32, error) {
	f := &textFind{j: c.joinSet, ctx: ctx, by: by, items: order}
	sets, err := f.sets()
	if err != nil {
		return nil, err
	}
	so := f.options(o.Progress)
	if len(c.lone) > 0 {
		so.Accept = func(a, b int) bool { return !c.apart(order[a], order[b]) }
	}
	stars, err := sets.Stars(ctx, by.T, so)
	if err != nil {
		return nil, err
	}
	keeper := make([]uint32, len(order))
	c.scores = make([]float64, len(order))
	for at, f := range order {
		keeper[f], c.scores[f] = order[stars.Keeper[at]], stars.Score[at]
	}
	return keeper, nil
}
