package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/textsim"
)

// Where texts decide, an item is a document with a text, and a set is the documents of equal text,
// or by Jaccard of equal sets of shingles. Package setjoin finds what matches (textfind.go).

// A textSet is what a join by text knows of different texts, or sets of shingles, which are
// numbered as they are found.
type textSet struct {
	of       []uint32      // of each item: the number of its text
	elements []uint32      // of each text: its runes, its words, with repetitions, or its shingles
	texts    []byte        // one after the other, unless they are too large to hold
	ends     []uint64      // of each text: where it ends in texts; nil if they are not held
	held     *setjoin.Sets // by Jaccard: of the first texts, as many as have room
}

// textKey is the beginning of SHA-256 of a text, or of a set.
type textKey [16]byte

// addTexts gathers all visible documents that may be similar to others by their texts. It reads
// the texts of a table in the order in which they lie. Items are in the order of documents all the
// same, as the order of the results follows from it.
func (j *joinSet) addTexts(ctx context.Context, by view.Criterion) error {
	j.locs, j.text = []uint64{}, &textSet{}
	number := j.textNumbers(by)
	if by.Jaccard {
		number = j.setNumbers()
	}
	add := func(loc uint64, text []byte) error {
		if len(text) == 0 {
			return nil
		}
		n, ok, err := number(text)
		if ok {
			j.locs, j.text.of = append(j.locs, loc), append(j.text.of, n)
		}
		return err
	}
	v := j.v
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		texts, from := p.Texts(), len(j.locs)
		err := p.EachInTextOrder(ctx, func(doc uint32) error {
			if alive, err := v.Alive(p, doc); err != nil || !alive {
				return err
			}
			text, _, err := texts.Get(doc)
			if err == nil {
				err = add(uint64(i)<<32|uint64(doc), text)
			}
			return err
		})
		if err != nil {
			return err
		}
		sortByLoc(j.locs[from:], j.text.of[from:])
	}
	for i, m := range v.Mems {
		for at, d := range m.Docs {
			if !v.MemAlive(d) {
				continue
			}
			if err := add(j.memLoc(i, uint32(at)), d.Text); err != nil {
				return err
			}
		}
	}
	j.items, j.sets = len(j.locs), j.text.sets()
	return nil
}

// A numberFunc returns the number of a text, and false for one that is similar to none.
type numberFunc func(text []byte) (number uint32, ok bool, err error)

// textNumbers numbers different texts.
func (j *joinSet) textNumbers(by view.Criterion) numberFunc {
	most := j.v.Memory / 8
	signer, numbers := textsim.NewSigner(), map[textKey]uint32{}
	return func(text []byte) (uint32, bool, error) {
		digest := sha256.Sum256(text)
		number, known := numbers[textKey(digest[:])]
		if known {
			return number, true, nil
		}
		g := signer.Sign(text)
		elements := g.Runes
		if by.Text == view.Cosine {
			elements = g.Words.Count
		}
		if elements == 0 {
			return 0, false, nil
		}
		number = uint32(len(j.text.elements))
		numbers[textKey(digest[:])] = number
		j.text.elements = append(j.text.elements, elements)
		j.text.keep(text, most)
		return number, true, nil
	}
}

// setNumbers numbers the texts of different sets of shingles. Tables have equal texts next to each
// other, so a text is compared with the one before.
func (j *joinSet) setNumbers() numberFunc {
	most := j.v.Memory / 4
	x, shingles, numbers := j.text, j.v.Texts.Shingler(), map[textKey]uint32{}
	x.held = setjoin.NewSets(setjoin.SetsOptions{NoJoin: true})
	var last, bytesOf []byte
	var number uint32
	var ok bool
	return func(text []byte) (_ uint32, _ bool, err error) {
		if len(last) > 0 && bytes.Equal(text, last) {
			return number, ok, nil
		}
		last = append(last[:0], text...)
		set := shingles.Brief(text)
		if ok = len(set) > 0; !ok {
			return 0, false, nil
		}
		bytesOf = bytesOf[:0]
		for _, h := range set {
			bytesOf = binary.LittleEndian.AppendUint64(bytesOf, h)
		}
		digest := sha256.Sum256(bytesOf)
		known := false
		if number, known = numbers[textKey(digest[:])]; known {
			return number, true, nil
		}
		number = uint32(len(x.elements))
		numbers[textKey(digest[:])] = number
		if x.elements = append(x.elements, uint32(len(set))); x.held.Len() == int(number) && x.held.Bytes() < most {
			err = x.held.Add(set)
		}
		return number, true, err
	}
}

// sortByLoc sorts items by their locs, and numbers of their texts likewise.
func sortByLoc(locs []uint64, of []uint32) {
	if slices.IsSorted(locs) {
		return
	}
	sorted := radix.SortPairs(radix.Pairs{Keys: locs, Vals: of},
		radix.Pairs{Keys: make([]uint64, len(locs)), Vals: make([]uint32, len(of))})
	copy(locs, sorted.Keys)
	copy(of, sorted.Vals)
}

// sets returns, of each item, the first one with its text.
func (x *textSet) sets() []uint32 {
	const none = math.MaxUint32
	first := slices.Repeat([]uint32{none}, len(x.elements)) // of each text
	sets := make([]uint32, len(x.of))
	for i, number := range x.of {
		if first[number] == none {
			first[number] = uint32(i)
		}
		sets[i] = first[number]
	}
	return sets
}

// keep keeps the text that was found last, but none if all take more than most bytes.
func (x *textSet) keep(text []byte, most int64) {
	switch {
	case x.ends == nil && len(x.elements) > 1: // given up
	case int64(len(x.texts)+len(text)) > most:
		x.texts, x.ends = nil, nil
	default:
		x.texts = append(x.texts, text...)
		x.ends = append(x.ends, uint64(len(x.texts)))
	}
}

// textOf returns the text of item i: as it is held, or in scratch.
func (j *joinSet) textOf(i uint32, scratch *[]byte) ([]byte, error) {
	x := j.text
	if x.ends == nil {
		return j.place(i).Text(scratch)
	}
	number, from := x.of[i], uint64(0)
	if number > 0 {
		from = x.ends[number-1]
	}
	return x.texts[from:x.ends[number]], nil
}

// textKeepers is keepers where texts decide.
func (c *clustering) textKeepers(ctx context.Context, order []uint32, by view.Criterion, o *Options) ([]uint32, error) {
	if !o.Components {
		return c.textStars(ctx, order, by, o)
	}
	f := &textFind{j: c.joinSet, ctx: ctx, by: by, items: c.distinct()}
	sets, err := f.sets()
	if err != nil {
		return nil, err
	}
	so := f.options(o.Progress)
	if len(c.lone) > 0 {
		so.Accept = func(a, b int) bool { return !c.apart(f.items[a], f.items[b]) }
	}
	joined := selfjoin.NewForest(len(f.items))
	if err := sets.Components(ctx, by.T, so, joined); err != nil {
		return nil, err
	}
	forest, at := selfjoin.NewForest(c.groups()), make([]uint32, c.groups()) // of first items, their place
	for n, i := range f.items {
		at[i] = uint32(n)
		forest.Union(f.items[joined.Root(uint32(n))], i)
	}
	for i, first := range c.sets {
		forest.Union(first, uint32(i))
	}
	keeper := c.keepersOf(forest.Labels(), order)
	partner := make([]uint32, len(f.items))
	for n, i := range f.items {
		partner[n] = at[c.sets[keeper[i]]]
	}
	scores, err := f.scores(sets, partner)
	if err != nil {
		return nil, err
	}
	c.scores = make([]float64, len(keeper))
	for i, first := range c.sets {
		c.scores[i] = scores[at[first]]
	}
	return keeper, nil
}

// scores returns the similarity of each set with another one.
func (f *textFind) scores(sets *setjoin.Sets, partner []uint32) ([]float64, error) {
	if f.by.Jaccard {
		return sets.Scores(f.ctx, partner)
	}
	all := *f
	all.by.T = math.SmallestNonzeroFloat64 // chains connect documents that do not match
	return setjoin.ScoresBy(f.ctx, partner, func() setjoin.Judge { return &textJudge{textFind: &all} })
}
