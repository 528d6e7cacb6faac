// Package contain finds, for many texts at a time, the stored documents that contain a fraction of
// them, or have a fraction of themselves in them. It holds the sets of shingles of as many texts as
// fit into a quarter of Options.Memory (setjoin.Few), and reads each stored text once for all of
// these, in storage order.
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

// A Match is a document that matches a sample of a batch.
type Match struct {
	Sample int
	view.Match
}

// A batch is a set of samples searched for together.
type batch struct {
	v       *view.View
	n       int // number of samples
	by      view.Criterion
	samples func(i int) search.Sample
	skip    func(i int, id string) bool // reports that the document does not match sample i
	most    int                         // limit of the matches per sample; 0 for all

	numbers []int // indexes of the samples whose sets are held
	few     *setjoin.Few
	shares  []share
	workers sync.Pool // buffers of goroutines, *worker
	mu      sync.Mutex
	wanted  []uint8 // for each sample held, the number of matches still wanted; nil for all
}

// A share is a group of documents that one goroutine compares: documents of a part in storage
// order, or of a memtable.
type share struct {
	part *view.Part
	docs []uint32
	mem  []*view.MemDoc
}

// shareDocs is the maximum number of documents in a share.
const shareDocs = 256

// A worker holds the buffers of a goroutine.
type worker struct {
	sets   *features.SetHasher
	finder *setjoin.FewFinder
	found  []setjoin.FewMatch
}

// Each calls emit with the matches of n samples by Contains or Within, sample by sample, those of
// each sample best first, then by ID, until emit returns false. It leaves out matches for which
// skip returns true.
func Each(ctx context.Context, v *view.View, n int, samples func(i int) search.Sample, by view.Criterion, skip func(i int, id string) bool, emit func(Match) bool) error {
	b := &batch{v: v, n: n, by: by, samples: samples, skip: skip}
	var hits []Match
	return b.each(ctx, func(m Match) error {
		if hits = append(hits, m); len(hits) > v.Most(matchBytes) {
			return errMany
		}
		return nil
	}, func(err error) bool {
		slices.SortFunc(hits, Match.compare)
		for i := 0; i < len(hits) && err == nil; i++ {
			if !emit(hits[i]) {
				return false
			}
		}
		hits = hits[:0]
		return true
	})
}

// matchBytes is the memory for a match while a slice of matches grows.
const matchBytes = 2 * int(unsafe.Sizeof(Match{}))

// compare orders matches by sample, then best first, then by ID.
func (m Match) compare(other Match) int {
	return cmp.Or(cmp.Compare(m.Sample, other.Sample), cmp.Compare(other.Score, m.Score), strings.Compare(m.ID, other.ID))
}

// First returns for each of n samples the best of its first matches in storage order by Contains or
// Within; Sample is -1 if there is none. A sample that has most matches, 1 to 255, is not compared
// further, so that very many matching documents cost no extra time.
func First(ctx context.Context, v *view.View, n int, samples func(i int) search.Sample, by view.Criterion, most int, skip func(i int, id string) bool) ([]Match, error) {
	b := &batch{v: v, n: n, by: by, samples: samples, skip: skip, most: most}
	best := slices.Repeat([]Match{{Sample: -1}}, n)
	err := b.each(ctx, func(m Match) error {
		if at := &best[m.Sample]; at.Sample < 0 || m.compare(*at) < 0 {
			*at = m
		}
		return nil
	}, func(error) bool { return true })
	return best, err
}

// each calls take for the matches of as many samples as fit into memory, then done, and continues
// with the next samples until done returns false. After errMany it repeats the same samples in
// smaller numbers.
func (b *batch) each(ctx context.Context, take func(Match) error, done func(err error) bool) error {
	for from, most := 0, b.n; from < b.n; {
		sets, err := b.hold(ctx, from, most)
		held := len(sets)
		if err == nil {
			err = b.scan(ctx, sets, take)
		}
		switch more := done(err); {
		case errors.Is(err, errMany) && held > 1:
			most = held / 2
			continue
		case errors.Is(err, errMany):
			return b.v.OverBudget("documents")
		case err != nil || !more:
			return err
		}
		from, most = from+held, b.n
	}
	return nil
}

// hold returns the sets of the samples starting at from: as many as fit into memory, and no more
// than most.
func (b *batch) hold(ctx context.Context, from, most int) (sets [][]uint64, err error) {
	err = b.v.Safely(ctx, func() error {
		hasher := b.v.Texts.Sets()
		b.numbers = b.numbers[:0]
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

// errMany says that the matches of the held sets do not fit into memory. errFewer says that many of
// the held sets need no more matches.
var errMany, errFewer = errors.New("many matches"), errors.New("fewer samples")

// scan calls take for the matches of sets, in the order of documents.
func (b *batch) scan(ctx context.Context, sets [][]uint64, take func(Match) error) error {
	if err := b.cut(ctx); err != nil {
		return err
	}
	if b.most > 0 {
		b.wanted = slices.Repeat([]uint8{uint8(b.most)}, len(sets))
	}
	for next := 0; next < len(b.shares) && len(sets) > 0; {
		b.few, b.workers = setjoin.NewFew(sets, b.by.T, b.role()), sync.Pool{}
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
			defer b.mu.Unlock()
			for _, m := range found {
				if at := m.Sample; b.wanted != nil {
					if b.wanted[at] == 0 {
						continue
					}
					if b.wanted[at]--; b.wanted[at] == 0 {
						left--
					}
				}
				m.Sample = b.numbers[m.Sample]
				if err := take(m); err != nil {
					return err
				}
			}
			if left <= len(sets)/4*3 {
				return errFewer
			}
			return nil
		})
		if !errors.Is(err, errFewer) {
			return err
		}
		sets = b.undone(sets)
	}
	return nil
}

// undone retains only the samples that still want matches, and returns their sets.
func (b *batch) undone(sets [][]uint64) [][]uint64 {
	n := 0
	for at, wanted := range b.wanted {
		if wanted > 0 {
			sets[n], b.numbers[n], b.wanted[n] = sets[at], b.numbers[at], wanted
			n++
		}
	}
	b.numbers, b.wanted = b.numbers[:n], b.wanted[:n]
	return sets[:n]
}

// role returns the role of the samples in the comparison with stored documents.
func (b *batch) role() setjoin.FewRole {
	if b.by.Text == view.Contains {
		return setjoin.FewContained
	}
	return setjoin.FewContaining
}

// cut divides all documents into shares.
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

// sharesAhead is how many shares per processor may have matches that are not consumed yet.
const sharesAhead = 4

// compare returns the matches of a share. Match.Sample is the index among the held sets.
func (b *batch) compare(ctx context.Context, s *share) (matches []Match, err error) {
	r, _ := b.workers.Get().(*worker)
	if r == nil {
		r = &worker{sets: b.v.Texts.Sets(), finder: b.few.Finder()}
	}
	if b.wanted != nil {
		b.mu.Lock()
		r.finder.Wanted = append(r.finder.Wanted[:0], b.wanted...)
		b.mu.Unlock()
	}
	most := max(shareDocs, b.v.Most(matchBytes)/(sharesAhead*runtime.GOMAXPROCS(0)))
	defer b.workers.Put(r)
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
			if matches = append(matches, Match{f.Set, view.Match{ID: id, Score: f.Score, Exact: true}}); r.finder.Wanted != nil {
				r.finder.Wanted[f.Set]--
			}
		}
		if len(matches) > most {
			return errMany
		}
		return err
	}
	if s.part != nil {
		texts := s.part.TextsInOrder(false)
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
