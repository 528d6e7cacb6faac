package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"math"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/textsim"
)

// By a criterion of text, an item is a document with a text, and a set is the documents of equal
// text. Package setjoin finds what matches (textfind.go).

// A textSet is what a join by text knows of different texts, which are numbered as they are found.
type textSet struct {
	of       []uint32 // of each item: the number of its text
	elements []uint32 // of each text: its runes, or its words, with repetitions
	texts    []byte   // one after the other, unless they are too large to hold
	ends     []uint64 // of each text: where it ends in texts; nil if they are not held
}

// textKey is the beginning of SHA-256 of a text.
type textKey [16]byte

// addTexts gathers all visible documents that may be similar to others by a criterion of text. It
// reads the texts of a table in the order in which they lie. Items are in the order of documents
// all the same, as the order of the results follows from it.
func (j *joinSet) addTexts(ctx context.Context, by view.Criterion) error {
	j.locs, j.text = []uint64{}, &textSet{}
	most := j.v.Memory / 8
	signer, numbers := textsim.NewSigner(), map[textKey]uint32{}
	add := func(loc uint64, text []byte) {
		if len(text) == 0 {
			return
		}
		digest := sha256.Sum256(text)
		key := textKey(digest[:])
		number, known := numbers[key]
		if !known {
			g := signer.Sign(text)
			elements := g.Runes
			if by.Text == view.Cosine {
				elements = g.Words.Count
			}
			if elements == 0 {
				return
			}
			number = uint32(len(j.text.elements))
			numbers[key] = number
			j.text.elements = append(j.text.elements, elements)
			j.text.keep(text, most)
		}
		j.locs, j.text.of = append(j.locs, loc), append(j.text.of, number)
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
				add(uint64(i)<<32|uint64(doc), text)
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
			if v.MemAlive(d) {
				add(j.memLoc(i, uint32(at)), d.Text)
			}
		}
	}
	j.items, j.sets = len(j.locs), j.text.sets()
	return nil
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

// textKeepers is keepers by a criterion of text.
func (c *clustering) textKeepers(ctx context.Context, order []uint32, by view.Criterion, o *Options) ([]uint32, error) {
	if !o.Components {
		return c.textStars(ctx, order, by, o)
	}
	forest := selfjoin.NewForest(c.groups())
	for i, first := range c.sets {
		forest.Union(first, uint32(i))
	}
	err := c.eachTextPair(ctx, by, o.Progress, func(p *sketchPair) bool {
		if !c.apart(p.a, p.b) {
			forest.Union(p.a, p.b)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	keeper := c.keepersOf(forest.Labels(), order)
	return keeper, c.scoreTexts(ctx, keeper, by)
}

// scoreTexts computes the scores of members and keepers from the texts.
func (c *clustering) scoreTexts(ctx context.Context, keeper []uint32, by view.Criterion) error {
	c.scores = make([]float64, len(keeper))
	var members []uint32
	for f, k := range keeper {
		if c.scores[f] = 1; c.text.of[f] != c.text.of[k] {
			members = append(members, uint32(f))
		}
	}
	slices.SortStableFunc(members, func(f, g uint32) int { return cmp.Compare(keeper[f], keeper[g]) })
	by.T = math.SmallestNonzeroFloat64 // chains connect documents that do not match
	judge := &textJudge{textFind: &textFind{j: c.joinSet, ctx: ctx, by: by}}
	for _, f := range members {
		var err error
		if c.scores[f], _, err = judge.compare(keeper[f], f); err != nil {
			return err
		}
	}
	return nil
}
