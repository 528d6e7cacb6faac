package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/textsim"
	"github.com/simdb/simdb/minhash"
)

// By a criterion of text, an item is a document with a text, and a set is the documents of equal
// text. Signatures of all sets are compared with each other where lengths are about the same, and
// the texts that they do not rule out. So a join takes time in the square of the number of
// different texts, at about a nanosecond for a pair.

// A textSet is what a join by text knows of different texts, which are numbered as they are found.
type textSet struct {
	of         []uint32            // of each item: the number of its text
	signatures []textsim.Signature // of each text
	texts      []byte              // one after the other, unless they are too large to hold
	ends       []uint64            // of each text: where it ends in texts; nil if they are not held
}

// signature returns the signature of the text of item i.
func (x *textSet) signature(i uint32) *textsim.Signature { return &x.signatures[x.of[i]] }

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
			if by.Text == view.Cosine && g.Words.Set == 0 {
				return
			}
			number = uint32(len(j.text.signatures))
			numbers[key] = number
			j.text.signatures = append(j.text.signatures, g)
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
	first := slices.Repeat([]uint32{none}, len(x.signatures)) // of each text
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
	case x.ends == nil && len(x.signatures) > 1: // given up
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

// similarTo returns the comparison with the text of item i, and what finds candidates for it.
func (j *joinSet) similarTo(i uint32, by view.Criterion, scratch *[]byte) (textsim.Compare, *candidateFilter, error) {
	text, err := j.textOf(i, scratch)
	if err != nil {
		return nil, nil, err
	}
	if by.Text == view.Levenshtein {
		return textsim.Levenshtein(string(text), by.T), &candidateFilter{edit: textsim.NewEditFilter(string(text), by.T)}, nil
	}
	return textsim.Cosine(string(text), by.T), &candidateFilter{cosine: textsim.NewCosineFilter(string(text), by.T)}, nil
}

// A candidateFilter is one of both.
type candidateFilter struct {
	edit   *textsim.EditFilter
	cosine *textsim.CosineFilter
}

// A textIndex has the signatures of sets by length, those of a length in the order of adding.
type textIndex struct {
	byLength map[uint32]*sameLength
	longest  uint32
}

// sameLength is the sets whose texts have one length.
type sameLength struct {
	items []uint32
	edit  []textsim.EditSignature
	words []textsim.WordSignature
}

func newTextIndex() *textIndex { return &textIndex{byLength: map[uint32]*sameLength{}} }

func (x *textIndex) add(i uint32, g *textsim.Signature) {
	l := x.byLength[g.Runes]
	if l == nil {
		l = &sameLength{}
		x.byLength[g.Runes] = l
		x.longest = max(x.longest, g.Runes)
	}
	l.items, l.edit, l.words = append(l.items, i), append(l.edit, g.Edit), append(l.words, g.Words)
}

// candidates appends to dst the sets of at least least runes that f does not rule out.
func (x *textIndex) candidates(dst []uint32, f *candidateFilter, least uint32) []uint32 {
	most := x.longest
	if f.edit != nil {
		least, most = max(least, uint32(f.edit.Least)), min(most, uint32(f.edit.Most))
	}
	for length := least; length <= most; length++ {
		l := x.byLength[length]
		if l == nil {
			continue
		}
		if f.edit == nil {
			for n := range l.words {
				if f.cosine.May(&l.words[n]) {
					dst = append(dst, l.items[n])
				}
			}
			continue
		}
		bound := f.edit.Of(int(length))
		for n := range l.edit {
			if bound.May(&l.edit[n]) {
				dst = append(dst, l.items[n])
			}
		}
	}
	return dst
}

// A textWorker finds the pairs of some sets. It serves one goroutine.
type textWorker struct {
	j             *joinSet
	mine, scratch []byte
	found         []uint32
	pairs         []sketchPair
}

// pairsOf appends to w.pairs the matching pairs of a set with sets that are longer, or as long and
// come later.
func (w *textWorker) pairsOf(ctx context.Context, x *textIndex, a uint32, by view.Criterion) error {
	compare, f, err := w.j.similarTo(a, by, &w.mine)
	if err != nil {
		return err
	}
	runes := w.j.text.signature(a).Runes
	w.found = x.candidates(w.found[:0], f, runes)
	for _, b := range w.found {
		if w.j.text.signature(b).Runes == runes && b <= a {
			continue
		}
		score, ok, err := w.compare(ctx, compare, b)
		if err != nil {
			return err
		}
		if ok {
			w.pairs = append(w.pairs, sketchPair{a: a, b: b, score: minhash.Score{Score: score, Exact: true}})
		}
	}
	return nil
}

// compare compares a text with that of set b.
func (w *textWorker) compare(ctx context.Context, compare textsim.Compare, b uint32) (score float64, ok bool, err error) {
	text, err := w.j.textOf(b, &w.scratch)
	if err != nil {
		return 0, false, err
	}
	score, ok = compare(ctx, text)
	return score, ok, ctx.Err()
}

// textChunk is how many sets a worker takes at a time.
const textChunk = 64

// eachTextPair calls fn for all pairs of different sets that match by a criterion of text, by their
// first items, until it returns false: always in the same order.
func (j *joinSet) eachTextPair(ctx context.Context, by view.Criterion, progress func(view.Progress), fn func(*sketchPair) bool) error {
	firsts, x := j.distinct(), newTextIndex()
	for _, i := range firsts {
		x.add(i, j.text.signature(i))
	}
	workers := make([]textWorker, runtime.GOMAXPROCS(0))
	for i := range workers {
		workers[i].j = j
	}
	errs := make([]error, len(workers))
	told := progressOf(len(firsts), progress)
	for from := 0; from < len(firsts); {
		to := from
		var wg sync.WaitGroup
		for n := range workers {
			some := firsts[to:min(to+textChunk, len(firsts))]
			to += len(some)
			w := &workers[n]
			wg.Go(func() {
				w.pairs = w.pairs[:0]
				errs[n] = j.v.Safely(ctx, func() error {
					for _, a := range some {
						if err := w.pairsOf(ctx, x, a, by); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
		wg.Wait()
		for n := range workers {
			if errs[n] != nil {
				return errs[n]
			}
			for i := range workers[n].pairs {
				if !fn(&workers[n].pairs[i]) {
					return nil
				}
			}
		}
		if from = to; told != nil {
			told(int64(from), int64(len(firsts)))
		}
	}
	return nil
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

// textStars takes the documents in order of preference: each joins the most similar keeper so far,
// of equally similar ones the first, or becomes one.
func (c *clustering) textStars(ctx context.Context, order []uint32, by view.Criterion, o *Options) ([]uint32, error) {
	w, x := &textWorker{j: c.joinSet}, newTextIndex() // of keepers
	keeper, rank := make([]uint32, c.groups()), make([]uint32, c.groups())
	c.scores = make([]float64, c.groups())
	// The keeper of equal text of a set, if it has one: nothing is more similar, and what became a
	// keeper before it and is as similar would have been its keeper. Not so for allowed pairs.
	own := map[uint32]uint32{}
	told := progressOf(len(order), o.Progress)
	for at, f := range order {
		set := c.sets[f]
		rank[f] = uint32(at)
		if k, ok := own[set]; ok {
			keeper[f], c.scores[f] = k, 1
			continue
		}
		best, found, err := c.bestKeeper(ctx, w, x, f, rank, by)
		if err != nil {
			return nil, err
		}
		if keeper[f], c.scores[f] = best.b, best.score.Score; !found {
			keeper[f], c.scores[f] = f, 1
			x.add(f, c.text.signature(f))
			own[set] = f
		}
		if told != nil && at%1024 == 0 {
			told(int64(at), int64(len(order)))
		}
	}
	return keeper, nil
}

// bestKeeper returns the keeper that item f joins, as b, and its score; false if it matches none.
func (c *clustering) bestKeeper(ctx context.Context, w *textWorker, x *textIndex, f uint32, rank []uint32, by view.Criterion) (best sketchPair, found bool, err error) {
	compare, filter, err := c.similarTo(f, by, &w.mine)
	if err != nil {
		return best, false, err
	}
	w.found = x.candidates(w.found[:0], filter, 1)
	for _, k := range w.found {
		if c.apart(f, k) {
			continue
		}
		score, ok, err := w.compare(ctx, compare, k)
		if err != nil {
			return best, false, err
		}
		if ok && (!found || score > best.score.Score || score == best.score.Score && rank[k] < rank[best.b]) {
			best, found = sketchPair{a: f, b: k, score: minhash.Score{Score: score, Exact: true}}, true
		}
	}
	return best, found, ctx.Err()
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
	w := &textWorker{j: c.joinSet}
	by.T = math.SmallestNonzeroFloat64 // chains connect documents that do not match
	var compare textsim.Compare
	for n, f := range members {
		var err error
		if n == 0 || keeper[f] != keeper[members[n-1]] {
			if compare, _, err = c.similarTo(keeper[f], by, &w.mine); err != nil {
				return err
			}
		}
		if c.scores[f], _, err = w.compare(ctx, compare, f); err != nil {
			return err
		}
	}
	return nil
}
