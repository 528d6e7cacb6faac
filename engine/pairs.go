package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/engine/internal/selfjoin"
	"github.com/simdb/simdb/internal/radix"
)

// progressOf adapts the callback of a self-join of n documents. What a join counts is its own affair (documents times passes): the
// share of it that is done is told as documents.
func progressOf(n int, fn func(Progress)) func(done, total int64) {
	if fn == nil {
		return nil
	}
	return func(done, total int64) {
		share := float64(done) / float64(max(total, 1))
		fn(Progress{Stage: "join", Done: int64(share * float64(n)), Total: int64(n), Unit: "documents"})
	}
}

// sorting reports that the pairs of a join are sorted, of which nothing can be counted.
func sorting(progress func(Progress)) {
	if progress != nil {
		progress(Progress{Stage: "sort"})
	}
}

// Pairs yields every pair of visible documents that match by the criterion, the best match first, then by A, then by B. It holds
// the pairs in memory, 16 bytes each (40 by Jaccard), the IDs of the documents in them, with about 90 bytes each beside, and 20
// to 50 bytes for every document (by Jaccard 16 and its sketch; where texts decide, 64 MiB of shingles besides). More pairs than
// Options.Memory has room for are ErrTooLarge; PairsFirst and PairsUnordered take any number of them. Progress, if
// not nil, is called now and then. IDs that are yielded share memory, 16 KiB or so: who keeps one for long should clone it.
func (s *Snapshot) Pairs(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return untilDone(ctx, func(yield func(Pair, error) bool) {
		var found func(yield func(Pair) bool)
		err := s.joined(ctx, by, func(j *joinSet) (err error) {
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
	})
}

// joined calls fn with what a self-join of the snapshot by a criterion works on.
func (s *Snapshot) joined(ctx context.Context, by Criterion, fn func(*joinSet) error) error {
	return s.safely(ctx, func() error {
		if err := s.db.checkCriterion(by); err != nil {
			return err
		}
		j, err := s.newJoinSet(ctx, by)
		if err != nil {
			return err
		}
		return fn(j)
	})
}

// PairsUnordered is Pairs as they are found: in no particular order, though always in the same, and without holding them in
// memory, however many there are. The snapshot's tables must stay readable while the pairs are taken.
func (s *Snapshot) PairsUnordered(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return untilDone(ctx, func(yield func(Pair, error) bool) {
		goOn := true
		err := s.joined(ctx, by, func(j *joinSet) error {
			return j.eachPair(ctx, by, progress, func(p Pair) bool {
				goOn = yield(p, nil)
				return goOn
			})
		})
		if err != nil && goOn {
			yield(Pair{}, err)
		}
	})
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
		err = j.eachScored(ctx, by, progress, func(p *sketchPair) bool { return give(p.a, p.b, p.match("")) })
	} else {
		err = j.eachItemPair(ctx, by.k, progress, func(a, b uint32, distance int) bool { return give(a, b, Match{Distance: distance}) })
	}
	return errors.Join(err, failed)
}

// pairs returns all pairs within k bits, in their order.
func (j *joinSet) pairs(ctx context.Context, k int, progress func(Progress)) (func(func(Pair) bool), error) {
	var found [65][]uint64 // by distance: an item<<32 | another
	left := j.s.db.most(pairBytes)
	err := j.eachItemPair(ctx, k, progress, func(a, b uint32, distance int) bool {
		if left--; left < 0 {
			return false
		}
		found[distance] = append(found[distance], uint64(a)<<32|uint64(b))
		return true
	})
	if err == nil && left < 0 {
		err = j.s.db.overBudget("pairs")
	}
	if err != nil {
		return nil, err
	}
	sorting(progress)
	items := newItemSet(j.items)
	for _, pairs := range found {
		for part := range slices.Chunk(pairs, checkEvery) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for _, p := range part {
				items.add(uint32(p >> 32))
				items.add(uint32(p))
			}
		}
	}
	ranks, err := j.rank(ctx, items)
	if err != nil {
		return nil, err
	}
	if err := sortByRank(ctx, &found, ranks); err != nil {
		return nil, err
	}
	return func(yield func(Pair) bool) {
		for distance, pairs := range found {
			for _, p := range pairs {
				a, b := ranks.ids[p>>32], ranks.ids[uint32(p)]
				if !yield(Pair{A: a, B: b, Match: Match{ID: b, Distance: distance}}) {
					return
				}
			}
		}
	}, ctx.Err()
}

// checkEvery is how many pairs are ranked between two looks at a context.
const checkEvery = 1 << 16

// sortByRank replaces the items of pairs by the ranks of their IDs, the smaller first, and sorts them.
func sortByRank(ctx context.Context, found *[65][]uint64, ranks *idRanks) error {
	width := bits.Len(uint(len(ranks.ids))) // of a rank
	var spare []uint64
	for d, pairs := range found {
		for part := range slices.Chunk(pairs, checkEvery) {
			if err := ctx.Err(); err != nil {
				return err
			}
			for i, p := range part {
				a, b := ranks.of(uint32(p>>32)), ranks.of(uint32(p))
				part[i] = uint64(min(a, b))<<width | uint64(max(a, b))
			}
		}
		if cap(spare) < len(pairs) {
			spare = make([]uint64, len(pairs))
		}
		var err error
		if pairs, spare, err = radix.SortContext(ctx, pairs, spare[:len(pairs)], max(2*width, 1)); err != nil {
			return err
		}
		for i, p := range pairs {
			pairs[i] = p>>width<<32 | p&(1<<width-1)
		}
		found[d] = pairs
	}
	return nil
}

// eachItemPair calls fn for every pair of items within k bits until it returns false: those of equal fingerprint first.
func (j *joinSet) eachItemPair(ctx context.Context, k int, progress func(Progress), fn func(a, b uint32, distance int) bool) error {
	if j.first == nil {
		return j.eachGroupPair(ctx, k, progress, fn)
	}
	calls := 0
	goOn := func(a, b uint32, distance int) bool {
		calls++
		return (calls%(1<<14) != 0 || ctx.Err() == nil) && fn(a, b, distance)
	}
	err := j.eachGroupPair(ctx, k, progress, func(x, y uint32, distance int) bool {
		for a := j.first[x]; a < j.first[x+1]; a++ {
			from := j.first[y]
			if x == y {
				from = a + 1
			}
			for b := from; b < j.first[y+1]; b++ {
				if !goOn(a, b, distance) {
					return false
				}
			}
		}
		return true
	})
	return cmp.Or(err, ctx.Err())
}

// eachGroupPair calls fn for every pair of groups within k bits until it returns false: first for each group of several items
// with itself.
func (j *joinSet) eachGroupPair(ctx context.Context, k int, progress func(Progress), fn func(x, y uint32, distance int) bool) error {
	if j.first != nil {
		for g := range uint32(j.groups()) {
			if lo, hi := j.span(g); hi-lo > 1 && !fn(g, g, 0) {
				return nil
			}
			if g%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return selfjoin.Pairs(ctx, j.fps, k, selfjoin.Options{Progress: progressOf(len(j.fps), progress)}, fn)
}
