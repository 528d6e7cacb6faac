package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/simdb/simdb/engine/internal/selfjoin"
)

// A joinItem is a visible document with a fingerprint.
type joinItem struct {
	fp  uint64
	loc uint64 // part<<32 | document; parts behind the version's tables are memtables
}

// A joinSet is all visible fingerprints of a snapshot, sorted: the input of a self-join. Documents of equal fingerprint are
// joined as one, and told apart again only in what is found.
type joinSet struct {
	s     *Snapshot
	items []joinItem
	fps   []uint64 // distinct, ascending
	first []uint32 // first[i] is where the items of fps[i] begin; one more than fps
}

func (s *Snapshot) newJoinSet(ctx context.Context) (*joinSet, error) {
	j := &joinSet{s: s}
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
			return nil, err
		}
		runs = append(runs, len(j.items))
	}
	for i, m := range s.mems {
		start := len(j.items)
		for f, fp := range m.fps {
			if s.memAlive(m.docs[m.fpDoc[f]]) {
				j.items = append(j.items, joinItem{fp, uint64(len(s.version.parts)+i)<<32 | uint64(m.fpDoc[f])})
			}
		}
		slices.SortStableFunc(j.items[start:], compareItems)
		runs = append(runs, len(j.items))
	}
	if int64(len(j.items)) > selfjoin.MaxFingerprints {
		return nil, fmt.Errorf("%d fingerprints, a self-join takes %d: %w", len(j.items), int64(selfjoin.MaxFingerprints), ErrTooLarge)
	}
	j.items = mergeRuns(j.items, runs)
	j.group()
	return j, ctx.Err()
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

// group finds the distinct fingerprints.
func (j *joinSet) group() {
	for i, it := range j.items {
		if i == 0 || it.fp != j.items[i-1].fp {
			j.fps = append(j.fps, it.fp)
			j.first = append(j.first, uint32(i))
		}
	}
	j.first = append(j.first, uint32(len(j.items)))
}

// place returns where item i is.
func (j *joinSet) place(i uint32) place {
	at, doc := int(j.items[i].loc>>32), uint32(j.items[i].loc)
	if tables := len(j.s.version.parts); at >= tables {
		return place{mem: j.s.mems[at-tables].docs[doc]}
	}
	return place{part: &j.s.version.parts[at], doc: doc}
}

// ids returns the IDs of items and their ranks: rank[x] is the place of item which[x] in the order of IDs.
func (j *joinSet) ids(which []uint32) (ids [][]byte, rank []uint32, err error) {
	ids = make([][]byte, len(which))
	for x, i := range which {
		if ids[x], err = j.place(i).id(); err != nil {
			return nil, nil, err
		}
	}
	order := make([]uint32, len(which))
	for x := range order {
		order[x] = uint32(x)
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(ids[a], ids[b]) })
	rank = make([]uint32, len(which))
	for r, x := range order {
		rank[x] = uint32(r)
	}
	return ids, rank, nil
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

// Pairs yields every pair of visible documents that match by the criterion, nearest first, then by A, then by B. It holds
// the pairs in memory, 12 bytes each, and 16 bytes a document. Progress, if not nil, is called now and then.
func (s *Snapshot) Pairs(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		var pairs []joinPair
		var ids [][]byte // by rank
		err := s.safely(ctx, func() (err error) {
			pairs, ids, err = s.pairs(ctx, by, progress)
			return err
		})
		if err != nil {
			yield(Pair{}, err)
			return
		}
		for _, p := range pairs {
			a, b := string(ids[p.a]), string(ids[p.b])
			if !yield(Pair{A: a, B: b, Match: Match{ID: b, Distance: int(p.distance)}}, nil) {
				return
			}
		}
	}
}

// pairs returns all pairs in their order, a and b being ranks, and the IDs of the ranks.
func (s *Snapshot) pairs(ctx context.Context, by Criterion, progress func(Progress)) (pairs []joinPair, ids [][]byte, err error) {
	k, ok := by.Distance()
	if !ok {
		return nil, nil, fmt.Errorf("PAIRS %v: %w", by, ErrNoSketches)
	}
	if err := checkDistance(k); err != nil {
		return nil, nil, err
	}
	j, err := s.newJoinSet(ctx)
	if err != nil {
		return nil, nil, err
	}
	pairs, err = j.itemPairs(ctx, k, progress)
	if err != nil {
		return nil, nil, err
	}
	which := make([]uint32, 0, 2*len(pairs))
	for _, p := range pairs {
		which = append(which, p.a, p.b)
	}
	slices.Sort(which)
	which = slices.Compact(which)
	byItem, rank, err := j.ids(which)
	if err != nil {
		return nil, nil, err
	}
	ids = make([][]byte, len(which))
	for x, r := range rank {
		ids[r] = bytes.Clone(byItem[x])
	}
	rankOf := func(item uint32) uint32 {
		x, _ := slices.BinarySearch(which, item)
		return rank[x]
	}
	for i, p := range pairs {
		a, b := rankOf(p.a), rankOf(p.b)
		pairs[i].a, pairs[i].b = min(a, b), max(a, b)
	}
	slices.SortFunc(pairs, func(x, y joinPair) int {
		if c := cmp.Compare(x.distance, y.distance); c != 0 {
			return c
		}
		if c := cmp.Compare(x.a, y.a); c != 0 {
			return c
		}
		return cmp.Compare(x.b, y.b)
	})
	return pairs, ids, ctx.Err()
}

// itemPairs returns all pairs of items, in no particular order.
func (j *joinSet) itemPairs(ctx context.Context, k int, progress func(Progress)) (pairs []joinPair, err error) {
	for i := range j.fps {
		for a := j.first[i]; a < j.first[i+1]; a++ {
			for b := a + 1; b < j.first[i+1]; b++ {
				pairs = append(pairs, joinPair{a, b, 0})
			}
		}
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	o := selfjoin.Options{Progress: progressOf("pairs", progress)}
	err = selfjoin.Pairs(ctx, j.fps, k, o, func(x, y uint32, distance int) bool {
		for a := j.first[x]; a < j.first[x+1]; a++ {
			for b := j.first[y]; b < j.first[y+1]; b++ {
				pairs = append(pairs, joinPair{a, b, uint8(distance)})
			}
		}
		return true
	})
	return pairs, err
}
