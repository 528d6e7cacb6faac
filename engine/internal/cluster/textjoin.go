package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/textsim"
)

// If texts decide, an item is a document with a text, and a class is the documents with equal
// texts, or for Jaccard and containment with equal sets of shingles. Package setjoin finds the
// matches (find.go).

// A textSet holds the data of distinct texts, or sets of shingles, which are numbered as they are
// found.
type textSet struct {
	of       []uint32      // by item: the number of its text
	elements []uint32      // by text: its number of runes, of words with repetitions, or of shingles
	texts    []byte        // consecutive texts, unless they are too large for memory
	ends     []uint64      // by text: its end in texts; nil if texts are not in memory
	held     *setjoin.Sets // for Jaccard and containment: the sets of the first texts, as many as fit
}

// addTexts gathers all visible documents that may be similar to others by their texts. It reads
// the texts of a table in storage order. Items are nevertheless in the order of documents, as it
// determines the order of the results.
func (j *joinSet) addTexts(ctx context.Context) error {
	j.locs, j.text = []uint64{}, &textSet{}
	number := j.textNumbers()
	if j.byShingles() {
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
	j.items = len(j.locs)
	j.classes = collection.ClassesOf(slices.Clone(j.text.of), len(j.text.elements))
	return nil
}

// byShingles reports whether sets of shingles decide, not texts themselves.
func (j *joinSet) byShingles() bool { return j.by.Jaccard || j.by.Text.Contained() }

// setKey is the beginning of the SHA-256 hash of a set, a sketch or a text.
type setKey [16]byte

func keyOf(b []byte) setKey {
	digest := sha256.Sum256(b)
	return setKey(digest[:])
}

// A numberFunc returns the number of a text, and false if the text is similar to none.
type numberFunc func(text []byte) (number uint32, ok bool, err error)

func (j *joinSet) textNumbers() numberFunc {
	most := j.v.Memory / 8
	signer, numbers := textsim.NewSigner(j.v.Texts.Spec()), map[setKey]uint32{}
	return func(text []byte) (uint32, bool, error) {
		key := keyOf(text)
		number, known := numbers[key]
		if known {
			return number, true, nil
		}
		g := signer.Sign(text)
		elements := g.Runes
		if j.by.Text == view.Cosine {
			elements = g.Words.Count
		}
		if elements == 0 {
			return 0, false, nil
		}
		number = uint32(len(j.text.elements))
		numbers[key] = number
		j.text.elements = append(j.text.elements, elements)
		j.text.keep(text, most)
		return number, true, nil
	}
}

// setNumbers numbers distinct sets of shingles. Tables store equal texts next to each other, so
// each text is compared with the previous one.
func (j *joinSet) setNumbers() numberFunc {
	most := j.v.Memory / 4
	x, shingles, numbers := j.text, j.v.Texts.Sets(), map[setKey]uint32{}
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
		key, known := keyOf(bytesOf), false
		if number, known = numbers[key]; known {
			return number, true, nil
		}
		number = uint32(len(x.elements))
		numbers[key] = number
		if x.elements = append(x.elements, uint32(len(set))); x.held.Len() == int(number) && x.held.Bytes() < most {
			err = x.held.Add(set)
		}
		return number, true, err
	}
}

// sortByLoc sorts items by their locs, and the numbers of their texts likewise.
func sortByLoc(locs []uint64, of []uint32) {
	if slices.IsSorted(locs) {
		return
	}
	sorted := ordered.SortPairs(ordered.Pairs{Keys: locs, Vals: of},
		ordered.Pairs{Keys: make([]uint64, len(locs)), Vals: make([]uint32, len(of))})
	copy(locs, sorted.Keys)
	copy(of, sorted.Vals)
}

// keep stores the most recently found text; it drops all texts if they exceed most bytes.
func (x *textSet) keep(text []byte, most int64) {
	switch {
	case x.ends == nil && len(x.elements) > 1: // given up before
	case int64(len(x.texts)+len(text)) > most:
		x.texts, x.ends = nil, nil
	default:
		x.texts = append(x.texts, text...)
		x.ends = append(x.ends, uint64(len(x.texts)))
	}
}

// textOf returns the text of item i, from memory or read into scratch.
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
