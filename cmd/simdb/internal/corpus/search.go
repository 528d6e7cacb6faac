package corpus

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/setjoin"
)

// A Search finds what is like a few documents among very many, which are read once more and not
// kept: those within some bits, and those whose sets are similar. What it holds is of the few
// alone.
type Search struct {
	o       SearchOptions
	numbers []int64 // of the documents that are searched for
	prints  []base.Fingerprint
	printed []uint32 // of each fingerprint: the document, by its place
	few     *setjoin.Few
}

// SearchOptions say what a Search finds.
type SearchOptions struct {
	Within int     // bits
	Least  float64 // Jaccard similarity of sets
	Memory int64   // bytes for the documents that are searched for
}

// ErrFewLarge says that the documents that are searched for have no room.
var ErrFewLarge = errors.New("so many documents have no room in half of --memory")

// A Met is a document that was found.
type Met struct {
	Place    int         // of the one that it is like, among those that are searched for
	Doc      *engine.Doc // valid until the function that it is given to returns
	Distance int         // in bits; -1 if it is more than Within, or one of both has no fingerprint
	Score    float64     // -1 if it is less than Least
}

// met is a Met of a batch.
type met struct {
	at    int32 // the document, in the batch
	place int32
	bits  int32
	score float64
}

// NewSearch returns a Search for documents, which are given with their numbers.
func NewSearch(params fingerprint.Params, docs []engine.Doc, numbers []int64, o SearchOptions) (*Search, error) {
	s := &Search{o: o, numbers: numbers}
	f := newHasher(params)
	sets := make([][]uint64, len(docs))
	for i := range docs {
		sets[i] = f.sets.Append(nil, docs[i].Text)
		if o.Memory -= int64(len(sets[i])) * setjoin.FewBytes; o.Memory < 0 {
			return nil, ErrFewLarge
		}
		if fp, ok := f.print(&docs[i]); ok {
			s.prints, s.printed = append(s.prints, fp), append(s.printed, uint32(i))
		}
	}
	s.few = setjoin.NewFew(sets, o.Least)
	return s, nil
}

// Comparable reports whether a document that is searched for can be like others: one without words
// is not.
func (s *Search) Comparable(place int) bool {
	_, ok := slices.BinarySearch(s.printed, uint32(place))
	return ok
}

// Extractor returns an Extractor of all documents, by number, among which are those that are
// searched for. It calls each in their order for every one, and whether it has words, and found for
// what it is like, in the order of places.
func (s *Search) Extractor(ctx context.Context, params fingerprint.Params, each func(words bool), found func(Met) error) *Extractor {
	worker := func() func(*featured) {
		w := &searcher{Search: s, hasher: newHasher(params), finder: s.few.Finder()}
		return w.batch
	}
	return newExtractor(ctx, worker, func(b *featured) error {
		for _, empty := range b.empty {
			each(!empty)
		}
		for i, m := range b.met {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := found(Met{int(m.place), &b.docs[m.at], int(m.bits), m.score}); err != nil {
				return err
			}
		}
		return nil
	})
}

// searcher finds the matches of batches. It serves one goroutine.
type searcher struct {
	*Search
	hasher *hasher
	finder *setjoin.FewFinder
	at     []int32 // of each fingerprint of a batch: the document
	pairs  []uint64
	scored []setjoin.FewMatch
}

// batch finds the matches of a batch.
func (w *searcher) batch(b *featured) {
	w.at = w.at[:0]
	for i := range b.docs {
		fp, ok := w.hasher.print(&b.docs[i])
		if b.empty = append(b.empty, !ok); ok {
			b.prints, w.at = append(b.prints, fp), append(w.at, int32(i))
		}
	}
	w.pairs = kernel.ScanMany(w.pairs[:0], b.prints, w.prints, w.o.Within)
	slices.Sort(w.pairs)
	pairs := w.pairs
	for i := range b.docs {
		b.hashes = w.hasher.sets.Append(b.hashes[:0], b.docs[i].Text)
		w.scored = w.finder.Append(w.scored[:0], b.hashes)
		n := 0
		for n < len(pairs) && w.at[pairs[n]>>32] == int32(i) {
			n++
		}
		w.merge(b, i, pairs[:n])
		pairs = pairs[n:]
	}
}

// merge adds the matches of document i, which was found by its set and its fingerprint, each in the
// order of places.
func (w *searcher) merge(b *featured, i int, pairs []uint64) {
	scored := w.scored
	for len(scored) > 0 || len(pairs) > 0 {
		m := met{at: int32(i), place: math.MaxInt32, bits: -1, score: -1}
		if len(scored) > 0 {
			m.place = int32(scored[0].Set)
		}
		var near int // the fingerprint
		if len(pairs) > 0 {
			near = int(pairs[0] & (1<<32 - 1))
			m.place = min(m.place, int32(w.printed[near]))
		}
		if len(scored) > 0 && scored[0].Set == int(m.place) {
			m.score, scored = scored[0].Score, scored[1:]
		}
		if len(pairs) > 0 && int32(w.printed[near]) == m.place {
			m.bits, pairs = int32(base.Distance(b.prints[pairs[0]>>32], w.prints[near])), pairs[1:]
		}
		if b.first+int64(i) != w.numbers[m.place] { // not itself
			b.met = append(b.met, m)
		}
	}
}
