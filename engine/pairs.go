package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/simdb/simdb/engine/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// A joinItem is a visible document with a fingerprint.
type joinItem struct {
	fp  uint64
	loc uint64 // part<<32 | document; parts behind the version's tables are memtables
}

// A joinSet is what a self-join of a snapshot works on: its visible documents with fingerprints, or with sketches, in groups.
// Documents of equal fingerprint are a group: they are joined as one, and told apart again only in what is found. By sketch
// every document is a group of its own.
type joinSet struct {
	s        *Snapshot
	items    []joinItem
	first    []uint32         // first[i] is where the items of group i begin; one more than groups
	fps      []uint64         // by fingerprint: of each group, ascending
	sketches []minhash.Sketch // by sketch: of each group
	texts    *textScores      // where texts decide; nil else
}

func (j *joinSet) groups() int { return len(j.first) - 1 }

// match returns how group f compares with group g.
func (j *joinSet) match(f, g uint32) (Match, error) {
	switch {
	case j.sketches == nil:
		return Match{Distance: distance(j.fps[f], j.fps[g])}, nil
	case j.texts != nil:
		score, err := j.texts.score(g, f)
		return Match{Score: score, Exact: true}, err
	}
	s := minhash.Jaccard(j.sketches[f], j.sketches[g], int(j.s.db.params.Sketch))
	return Match{Score: s.Score, Error: s.Error, Exact: s.Exact}, nil
}

func (s *Snapshot) newJoinSet(ctx context.Context, by Criterion) (*joinSet, error) {
	j := &joinSet{s: s}
	var err error
	if by.jaccard {
		err = j.addSketches(ctx)
	} else {
		err = j.addFingerprints(ctx)
	}
	if by.verified {
		j.texts = j.newTextScores(textMemory)
	}
	if err != nil {
		return nil, err
	}
	return j, ctx.Err()
}

// addFingerprints gathers all visible fingerprints, in order.
func (j *joinSet) addFingerprints(ctx context.Context) error {
	s := j.s
	var runs []int // where sorted runs of items end
	for i := range s.version.parts {
		p := &s.version.parts[i]
		err := p.EachFingerprint(func(doc uint32, fp uint64) error {
			if doc%65536 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			ok, err := s.alive(p, doc)
			if ok {
				j.items = append(j.items, joinItem{fp, uint64(i)<<32 | uint64(doc)})
			}
			return err
		})
		if err != nil {
			return err
		}
		runs = append(runs, len(j.items))
	}
	for i, m := range s.mems {
		start := len(j.items)
		for f, fp := range m.fps {
			if s.memAlive(m.docs[m.fpDoc[f]]) {
				j.items = append(j.items, joinItem{fp, j.memLoc(i, m.fpDoc[f])})
			}
		}
		slices.SortStableFunc(j.items[start:], compareItems)
		runs = append(runs, len(j.items))
	}
	if int64(len(j.items)) > selfjoin.MaxFingerprints {
		return fmt.Errorf("%d fingerprints, a self-join takes %d: %w", len(j.items), int64(selfjoin.MaxFingerprints), ErrTooLarge)
	}
	j.items = mergeRuns(j.items, runs)
	for i, it := range j.items {
		if i == 0 || it.fp != j.items[i-1].fp {
			j.fps = append(j.fps, it.fp)
			j.first = append(j.first, uint32(i))
		}
	}
	j.first = append(j.first, uint32(len(j.items)))
	return nil
}

// memLoc returns the loc of a document of memtable i.
func (j *joinSet) memLoc(i int, doc uint32) uint64 {
	return uint64(len(j.s.version.parts)+i)<<32 | uint64(doc)
}

// addSketches gathers all visible sketches.
func (j *joinSet) addSketches(ctx context.Context) error {
	s := j.s
	j.sketches = []minhash.Sketch{}
	add := func(loc uint64, sketch []uint32) {
		j.items = append(j.items, joinItem{0, loc})
		j.sketches = append(j.sketches, sketch)
	}
	for i := range s.version.parts {
		p := &s.version.parts[i]
		err := p.EachSketch(func(doc uint32, sketch []uint32) error {
			if doc%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			ok, err := s.alive(p, doc)
			if ok && len(sketch) > 0 {
				add(uint64(i)<<32|uint64(doc), slices.Clone(sketch))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for i, m := range s.mems {
		for _, at := range m.bitmapDoc {
			if d := m.docs[at]; s.memAlive(d) {
				add(j.memLoc(i, at), d.Sketch)
			}
		}
	}
	j.first = make([]uint32, len(j.items)+1)
	for i := range j.first {
		j.first[i] = uint32(i)
	}
	return nil
}

func compareItems(a, b joinItem) int { return cmp.Compare(a.fp, b.fp) }

// mergeRuns sorts items, which consist of sorted runs that end at the given positions, by merging neighbours until one is left.
func mergeRuns(items []joinItem, ends []int) []joinItem {
	ends = slices.Compact(ends)
	var other []joinItem
	for len(ends) > 1 {
		if other == nil {
			other = make([]joinItem, len(items))
		}
		var merged []int
		start := 0
		for i := 0; i < len(ends); i += 2 {
			mid, end := ends[i], ends[min(i+1, len(ends)-1)]
			mergeTwo(other[start:end], items[start:mid], items[mid:end])
			merged = append(merged, end)
			start = end
		}
		items, other, ends = other, items, merged
	}
	return items
}

func mergeTwo(dst, a, b []joinItem) {
	for i := range dst {
		if len(b) == 0 || len(a) > 0 && a[0].fp <= b[0].fp {
			dst[i], a = a[0], a[1:]
		} else {
			dst[i], b = b[0], b[1:]
		}
	}
}

// place returns where item i is.
func (j *joinSet) place(i uint32) place {
	at, doc := int(j.items[i].loc>>32), uint32(j.items[i].loc)
	if tables := len(j.s.version.parts); at >= tables {
		return place{mem: j.s.mems[at-tables].docs[doc]}
	}
	return place{part: &j.s.version.parts[at], doc: doc}
}

// rankedItem is an item with the first bytes of its ID that tell IDs apart, as a number that sorts like them.
type rankedItem struct {
	key  uint64
	item uint32
}

// inIDOrder returns the IDs of items, ascending, and puts items into that order. Most comparisons are of eight bytes: those
// behind what all IDs begin with.
func (j *joinSet) inIDOrder(items []uint32) (ids [][]byte, err error) {
	ids = make([][]byte, len(items))
	common := 0
	for x, i := range items {
		if ids[x], err = j.place(i).id(); err != nil {
			return nil, err
		}
		if x == 0 {
			common = len(ids[0])
		}
		for common = min(common, len(ids[x])); string(ids[x][:common]) != string(ids[0][:common]); {
			common--
		}
	}
	order := make([]rankedItem, len(items))
	for x := range items {
		var head [8]byte
		copy(head[:], ids[x][common:])
		order[x] = rankedItem{binary.BigEndian.Uint64(head[:]), uint32(x)}
	}
	slices.SortFunc(order, func(a, b rankedItem) int {
		if c := cmp.Compare(a.key, b.key); c != 0 {
			return c
		}
		return bytes.Compare(ids[a.item], ids[b.item])
	})
	sorted, sortedItems := make([][]byte, len(items)), make([]uint32, len(items))
	for r, o := range order {
		sorted[r], sortedItems[r] = ids[o.item], items[o.item]
	}
	copy(items, sortedItems)
	return sorted, nil
}

// progressOf adapts the callback of a self-join.
func progressOf(stage string, fn func(Progress)) func(done, total int64) {
	if fn == nil {
		return nil
	}
	return func(done, total int64) { fn(Progress{Stage: stage, Done: done, Total: total, Unit: "comparisons"}) }
}

// A joinPair is two items by their numbers and how far apart they are; the numbers become ranks of their IDs.
type joinPair struct {
	a, b     uint32
	distance uint8
}

// ends returns the two items.
func (p *joinPair) ends() (a, b *uint32) { return &p.a, &p.b }

// Pairs yields every pair of visible documents that match by the criterion, the best match first, then by A, then by B. It holds
// the pairs in memory, 12 bytes each (40 by Jaccard), and 16 bytes a document (by Jaccard its sketch too; where texts decide,
// 64 MiB of shingles besides). Progress, if not nil, is called now and then.
func (s *Snapshot) Pairs(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		var found func(yield func(Pair) bool)
		err := s.safely(ctx, func() (err error) {
			if err = s.db.checkCriterion(by); err != nil {
				return err
			}
			j, err := s.newJoinSet(ctx, by)
			if err != nil {
				return err
			}
			if by.jaccard {
				found, err = j.sketchPairs(ctx, by, progress)
			} else {
				found, err = j.pairs(ctx, by.k, progress)
			}
			return err
		})
		if err != nil {
			yield(Pair{}, err)
			return
		}
		for p := range found {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// PairsUnordered is Pairs as they are found: in no particular order, though always in the same, and without holding them in
// memory, however many there are. The snapshot's tables must stay readable while the pairs are taken.
func (s *Snapshot) PairsUnordered(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		goOn := true
		err := s.safely(ctx, func() error {
			if err := s.db.checkCriterion(by); err != nil {
				return err
			}
			j, err := s.newJoinSet(ctx, by)
			if err != nil {
				return err
			}
			return j.eachPair(ctx, by, progress, func(p Pair) bool {
				goOn = yield(p, nil)
				return goOn
			})
		})
		if err != nil && goOn {
			yield(Pair{}, err)
		}
	}
}

// eachPair calls fn for every pair, as they are found, until it returns false.
func (j *joinSet) eachPair(ctx context.Context, by Criterion, progress func(Progress), fn func(Pair) bool) error {
	var failed error
	give := func(x, y uint32, m Match) bool {
		var a, b []byte
		if a, failed = j.place(x).id(); failed == nil {
			b, failed = j.place(y).id()
		}
		if failed != nil {
			return false
		}
		if bytes.Compare(a, b) > 0 {
			a, b = b, a
		}
		m.ID = string(b)
		return fn(Pair{A: string(a), B: m.ID, Match: m})
	}
	var err error
	if by.jaccard {
		err = j.eachScored(ctx, "pairs", by, nil, progress, func(p *sketchPair) bool { return give(p.a, p.b, p.match("")) })
	} else {
		err = j.eachItemPair(ctx, by.k, progress, func(a, b uint32, distance int) bool { return give(a, b, Match{Distance: distance}) })
	}
	return errors.Join(err, failed)
}

// pairs returns all pairs within k bits, in their order.
func (j *joinSet) pairs(ctx context.Context, k int, progress func(Progress)) (func(func(Pair) bool), error) {
	pairs, err := j.itemPairs(ctx, k, progress)
	if err != nil {
		return nil, err
	}
	ids, err := rankEnds(j, pairs, (*joinPair).ends)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pairs, func(x, y joinPair) int {
		return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return func(yield func(Pair) bool) {
		for _, p := range pairs {
			b := string(ids[p.b])
			if !yield(Pair{A: string(ids[p.a]), B: b, Match: Match{ID: b, Distance: int(p.distance)}}) {
				return
			}
		}
	}, ctx.Err()
}

// rankEnds replaces the items of pairs by the ranks of their IDs, the smaller first, and returns the IDs by rank.
func rankEnds[P any](j *joinSet, pairs []P, ends func(*P) (a, b *uint32)) (ids [][]byte, err error) {
	rank := make([]uint32, len(j.items)) // of an item: first 1 if it is in a pair, then the rank of its ID
	count := 0
	for i := range pairs {
		a, b := ends(&pairs[i])
		count += int(2 - rank[*a] - rank[*b])
		rank[*a], rank[*b] = 1, 1
	}
	items := make([]uint32, 0, count)
	for i, in := range rank {
		if in == 1 {
			items = append(items, uint32(i))
		}
	}
	if ids, err = j.inIDOrder(items); err != nil {
		return nil, err
	}
	for r, i := range items {
		rank[i] = uint32(r)
		ids[r] = bytes.Clone(ids[r]) // the table may be gone before the pairs are read
	}
	for i := range pairs {
		a, b := ends(&pairs[i])
		x, y := rank[*a], rank[*b]
		*a, *b = min(x, y), max(x, y)
	}
	return ids, nil
}

// itemPairs returns all pairs of items within k bits, in no particular order.
func (j *joinSet) itemPairs(ctx context.Context, k int, progress func(Progress)) (pairs []joinPair, err error) {
	err = j.eachItemPair(ctx, k, progress, func(a, b uint32, distance int) bool {
		pairs = append(pairs, joinPair{a, b, uint8(distance)})
		return true
	})
	return pairs, err
}

// eachItemPair calls fn for every pair of items within k bits until it returns false: those of equal fingerprint first.
func (j *joinSet) eachItemPair(ctx context.Context, k int, progress func(Progress), fn func(a, b uint32, distance int) bool) error {
	for i := range j.fps {
		for a := j.first[i]; a < j.first[i+1]; a++ {
			for b := a + 1; b < j.first[i+1]; b++ {
				if !fn(a, b, 0) {
					return nil
				}
			}
		}
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	o := selfjoin.Options{Progress: progressOf("pairs", progress)}
	return selfjoin.Pairs(ctx, j.fps, k, o, func(x, y uint32, distance int) bool {
		for a := j.first[x]; a < j.first[x+1]; a++ {
			for b := j.first[y]; b < j.first[y+1]; b++ {
				if !fn(a, b, distance) {
					return false
				}
			}
		}
		return true
	})
}
