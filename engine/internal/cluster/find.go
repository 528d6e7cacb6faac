package cluster

import (
	"context"
	"math"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/minhash"
)

// A setFind is a join of items' sets, made from their texts or sketches.
type setFind struct {
	j     *joinSet
	ctx   context.Context
	items []uint32 // by number in the join
}

// measure returns the measure of the join's sets, and an upper bound of their elements.
func (f *setFind) measure() (m setjoin.Measure, elements int64) {
	switch {
	case f.j.sketches != nil:
		m = setjoin.Measure{Kind: setjoin.Sketches, N: int(f.j.v.Params.Sketch)}
		for _, i := range f.items {
			elements += int64(len(f.j.sketches[i]))
		}
		return m, elements
	case f.j.by.Text == view.Levenshtein:
		m = setjoin.Measure{Kind: setjoin.Edits, Q: setjoin.EditGrams(f.j.by.T)}
	case f.j.by.Text == view.Cosine:
		m = setjoin.Measure{Kind: setjoin.Cosine}
	case f.j.by.Text.Contained():
		m = setjoin.Measure{Kind: setjoin.Contained}
	case f.j.v.Texts.Spec().Real():
		m = setjoin.Measure{Kind: setjoin.Weighted}
	}
	for _, i := range f.items {
		elements += int64(f.j.text.elements[f.j.text.of[i]])
	}
	return m, elements
}

// sets returns the sets of the join. They are recomputed from the texts whenever they are read,
// which needs no memory, unless they are small and every comparison needs them.
func (f *setFind) sets() (*setjoin.Sets, error) {
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
		if i%4096 == 0 && f.ctx.Err() != nil {
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

// reader returns a function that appends the elements of a set.
func (f *setFind) reader(m setjoin.Measure) func(dst []uint64, i int) ([]uint64, error) {
	if m.Kind == setjoin.Sketches {
		return func(dst []uint64, i int) ([]uint64, error) {
			return setjoin.AppendSketch(dst, f.j.sketches[f.items[i]]), nil
		}
	}
	var scratch []byte
	var held *setjoin.Reader
	var add func(dst []uint64, text []byte) []uint64
	if !m.Kind.OfTexts() {
		held = f.j.text.held.Reader()
		shingles := f.j.v.Texts.Sets()
		add = func(dst []uint64, text []byte) []uint64 { return append(dst, shingles.Brief(text)...) }
	} else {
		set := setjoin.Elements{Of: f.j.v.Texts.Spec()}
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

// setsOf returns the sets of some items.
func (j *joinSet) setsOf(ctx context.Context, items []uint32) (*collection.Sets, error) {
	f := &setFind{j, ctx, items}
	sets, err := f.sets()
	if err != nil {
		return nil, err
	}
	s := &collection.Sets{Sets: sets, Of: items, Options: setjoin.Options{Memory: j.v.Memory / 4}}
	s.Options.Judge = func() setjoin.Judge { return f.textJudge(j.by.T) }
	const all = math.SmallestNonzeroFloat64 // chains connect documents that do not match
	switch {
	case j.sketches != nil:
		s.Options.Judge = func() setjoin.Judge { return sketchJudge{f} }
	case j.byShingles():
		s.Compare = sets.Scores
	default:
		s.Compare = func(ctx context.Context, partner []uint32) ([]float64, error) {
			return setjoin.ScoresBy(ctx, partner, func() setjoin.Judge { return f.textJudge(all) })
		}
	}
	return s, nil
}

// safely calls fn, which reads texts, with the protection that tables need; texts in memory need
// none.
func (f *setFind) safely(fn func() error) error {
	if f.j.text.ends != nil {
		return fn()
	}
	return f.j.v.Safely(f.ctx, fn)
}

// textJudge compares the texts of items: it is a setjoin.Judge.
type textJudge struct {
	find *setFind
	by   setjoin.TextJudge
}

func (f *setFind) textJudge(t float64) setjoin.Judge {
	j := &textJudge{f, setjoin.TextJudge{Ctx: f.ctx, Kind: setjoin.Edits, T: t, Of: f.j.v.Texts.Spec()}}
	if f.j.by.Text == view.Cosine {
		j.by.Kind = setjoin.Cosine
	}
	j.by.Text = func(i int, scratch *[]byte) ([]byte, error) { return f.j.textOf(f.items[i], scratch) }
	return j
}

// Compare compares the texts of two items of the join.
func (t *textJudge) Compare(a, b int) (score float64, ok bool, err error) {
	err = t.find.safely(func() (err error) {
		score, ok, err = t.by.Compare(a, b)
		return err
	})
	return score, ok, err
}

// sketchJudge compares the sketches of items: it is a setjoin.Judge.
type sketchJudge struct{ *setFind }

// Compare estimates the similarity of two items of the join.
func (s sketchJudge) Compare(a, b int) (score float64, ok bool, err error) {
	j := s.j
	m, ok := minhash.JaccardAtLeast(j.sketches[s.items[a]], j.sketches[s.items[b]], int(j.v.Params.Sketch), s.j.by.T)
	return m.Score, ok, nil
}
