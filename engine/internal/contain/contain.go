// Package contain finds, for many texts at a time, the stored documents that contain a share of
// them, or of which a share is in them. The sets of shingles of the texts are held in memory
// (setjoin.Few), as many as take a quarter of Options.Memory, and each stored text is read once for
// all of them, in the order in which texts lie.
package contain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/setjoin"
)

// A Match is a document that a sample of a batch has found.
type Match struct {
	Sample int
	view.Match
}

// A batch is what is looked for together.
type batch struct {
	v       *view.View
	n       int // samples
	by      view.Criterion
	samples func(i int) search.Sample
	skip    func(i int, id string) bool // the document is no match of sample i
	first   bool                        // one match of each sample is enough

	numbers []int // of the samples whose sets are held
	few     *setjoin.Few
	shares  []share
	hits    []Match
	rooms   sync.Pool // of *room
	mu      sync.Mutex
	done    []bool // by place of the sample: it needs no more matches
}

// A share is documents that are compared by one goroutine: of a part, as they lie, or a memtable.
type share struct {
	part *view.Part
	docs []uint32
	mem  []*view.MemDoc
}

// shareDocs is how many documents a share has at most.
const shareDocs = 256

// A room is the memory of a goroutine.
type room struct {
	sets   *features.SetHasher
	finder *setjoin.FewFinder
	found  []setjoin.FewMatch
}

// Each calls emit with the matches of n samples by a criterion of containment, sample by sample, of
// each best first, then by ID, until it returns false. skip says which documents are none.
func Each(ctx context.Context, v *view.View, n int, samples func(i int) search.Sample, by view.Criterion, skip func(i int, id string) bool, emit func(Match) bool) error {
	b := &batch{v: v, n: n, by: by, samples: samples, skip: skip}
	for from, most := 0, n; from < n; {
		sets, err := b.hold(ctx, from, most)
		if err == nil {
			err = b.scan(ctx, sets)
		}
		if errors.Is(err, errMany) && len(sets) > 1 {
			most = len(sets) / 2
			continue
		}
		if errors.Is(err, errMany) {
			err = v.OverBudget("documents")
		}
		if err != nil {
			return err
		}
		slices.SortFunc(b.hits, func(x, y Match) int {
			return cmp.Or(cmp.Compare(x.Sample, y.Sample), cmp.Compare(y.Score, x.Score), strings.Compare(x.ID, y.ID))
		})
		for _, h := range b.hits {
			if !emit(h) {
				return nil
			}
		}
		from, most = from+len(sets), n
	}
	return nil
}

// First returns for each of n samples a match by a criterion of containment, of which Sample is -1
// where there is none: the first one in the order in which texts lie. A sample that has a match is
// not compared any more, so it takes no longer where very many documents match.
func First(ctx context.Context, v *view.View, n int, samples func(i int) search.Sample, by view.Criterion, skip func(i int, id string) bool) ([]Match, error) {
	b := &batch{v: v, n: n, by: by, samples: samples, skip: skip, first: true}
	best := slices.Repeat([]Match{{Sample: -1}}, n)
	for from := 0; from < n; {
		sets, err := b.hold(ctx, from, n)
		held := len(sets)
		if err == nil {
			err = b.scan(ctx, sets)
		}
		if err != nil {
			return nil, err
		}
		for _, m := range b.hits {
			best[m.Sample] = m
		}
		from += held
	}
	return best, nil
}

// hold returns the sets of samples from one on, as many as there is memory for, and most at most.
func (b *batch) hold(ctx context.Context, from, most int) (sets [][]uint64, err error) {
	err = b.v.Safely(ctx, func() error {
		hasher, n := b.v.Texts.Sets(), len(b.numbers)
		b.numbers = slices.Grow(b.numbers[:0], n)
		for i, left := from, b.v.Memory/4/setjoin.FewBytes(b.by.T, b.role()); i < min(from+most, b.n); i++ {
			if i%shareDocs == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			var set features.Hashes
			if s := b.samples(i); s != (search.Sample{}) {
				text, err := s.ReadText(b.v)
				if err != nil {
					return fmt.Errorf("document %d of the batch: %w", i, err)
				}
				set = hasher.Set(text)
			}
			if left -= int64(len(set)); left < 0 && len(sets) > 0 {
				break
			}
			sets, b.numbers = append(sets, set), append(b.numbers, i)
		}
		return nil
	})
	return sets, err
}

// errMany says that there is no memory for all matches of the sets that are held. errFewer says
// that most of these are done with.
var errMany, errFewer = errors.New("many matches"), errors.New("fewer samples")

// scan leaves the matches of sets in b.hits.
func (b *batch) scan(ctx context.Context, sets [][]uint64) error {
	b.hits = b.hits[:0]
	if err := b.cut(ctx); err != nil {
		return err
	}
	most := b.v.Most(2 * int(unsafe.Sizeof(Match{})))
	for next := 0; next < len(b.shares); {
		b.few, b.rooms = setjoin.NewFew(sets, b.by.T, b.role()), sync.Pool{}
		b.done = make([]bool, len(sets))
		left := len(sets)
		rest := b.shares[next:]
		err := pipeline.Ordered(ctx, len(rest), runtime.GOMAXPROCS(0), func(i int) (found []Match, err error) {
			err = b.v.Safely(ctx, func() error {
				found, err = b.compare(ctx, &rest[i])
				return err
			})
			return found, err
		}, func(_ int, found []Match) error {
			next++
			b.mu.Lock()
			for _, m := range found {
				at := m.Sample
				if m.Sample = b.numbers[at]; b.done[at] {
					continue
				}
				b.hits = append(b.hits, m)
				if b.done[at] = b.first; b.first {
					left--
				}
			}
			b.mu.Unlock()
			switch {
			case len(b.hits) > most:
				return errMany
			case left <= len(sets)/4*3:
				return errFewer
			}
			return nil
		})
		if !errors.Is(err, errFewer) {
			return err
		}
		sets, b.numbers = b.undone(sets)
		if len(sets) == 0 {
			return nil
		}
	}
	return nil
}

// undone returns those of sets that are not done, and the numbers of their samples.
func (b *batch) undone(sets [][]uint64) (rest [][]uint64, numbers []int) {
	for at, is := range b.done {
		if !is {
			rest, numbers = append(rest, sets[at]), append(numbers, b.numbers[at])
		}
	}
	return rest, numbers
}

// role returns what the samples are to the stored documents.
func (b *batch) role() setjoin.FewRole {
	if b.by.Text == view.Contains {
		return setjoin.FewContained
	}
	return setjoin.FewContaining
}

// cut cuts all documents into shares.
func (b *batch) cut(ctx context.Context) error {
	if b.shares != nil {
		return nil
	}
	return b.v.Safely(ctx, func() error {
		for i := range b.v.Version.Parts {
			p, docs := &b.v.Version.Parts[i], []uint32(nil)
			if err := p.EachInTextOrder(ctx, func(doc uint32) error { docs = append(docs, doc); return nil }); err != nil {
				return err
			}
			for some := range slices.Chunk(docs, shareDocs) {
				b.shares = append(b.shares, share{part: p, docs: some})
			}
		}
		for _, m := range b.v.Mems {
			for some := range slices.Chunk(m.Docs, shareDocs) {
				b.shares = append(b.shares, share{mem: some})
			}
		}
		return nil
	})
}

// compare returns the matches of a share, by the places of samples among those that are held: of
// first one of each.
func (b *batch) compare(ctx context.Context, s *share) (matches []Match, err error) {
	r, _ := b.rooms.Get().(*room)
	if r == nil {
		r = &room{sets: b.v.Texts.Sets(), finder: b.few.Finder()}
	}
	if b.first {
		b.mu.Lock()
		r.finder.Done = append(r.finder.Done[:0], b.done...)
		b.mu.Unlock()
	}
	defer b.rooms.Put(r)
	take := func(text []byte, read func() ([]byte, error)) error {
		r.found = r.finder.Append(r.found[:0], r.sets.LastSet(text))
		if len(r.found) == 0 {
			return ctx.Err()
		}
		bytes, err := read()
		id := string(bytes)
		for _, f := range r.found {
			if b.skip(b.numbers[f.Set], id) {
				continue
			}
			if matches = append(matches, Match{f.Set, view.Match{ID: id, Score: f.Score, Exact: true}}); b.first {
				r.finder.Done[f.Set] = true
			}
		}
		return err
	}
	if s.part != nil {
		texts := s.part.TextsInOrder()
		for _, doc := range s.docs {
			if alive, err := b.v.Alive(s.part, doc); err != nil || !alive {
				if err != nil {
					return nil, err
				}
				continue
			}
			text, _, err := texts.Get(doc)
			if err == nil {
				err = take(text, func() ([]byte, error) { return s.part.ID(doc) })
			}
			if err != nil {
				return nil, err
			}
		}
	}
	for _, d := range s.mem {
		if b.v.MemAlive(d) {
			if err := take(d.Text, func() ([]byte, error) { return d.ID, nil }); err != nil {
				return nil, err
			}
		}
	}
	return matches, nil
}
