package engine

import (
	"context"
	"slices"
)

// firstBatch is how many hits are put in order before the first is yielded; the others are when they are asked for. A LIMIT
// mostly takes fewer, and of thousands of hits most of the time is that of sorting them.
const firstBatch = 64

// bestFirst moves the n least of hits to the front, in order, and returns them: in time O(len(hits)), but for hits in descending
// order, which take log n each.
func bestFirst[T any](hits []T, n int, compare func(a, b T) int) []T {
	if n < len(hits) {
		top := hits[:n] // a heap, the last in order at its root
		for i := n/2 - 1; i >= 0; i-- {
			sink(top, i, compare)
		}
		for i := n; i < len(hits) && n > 0; i++ {
			if compare(hits[i], top[0]) < 0 {
				hits[i], top[0] = top[0], hits[i]
				sink(top, 0, compare)
			}
		}
		hits = top
	}
	slices.SortFunc(hits, compare)
	return hits
}

// sink restores the heap below element i, which may be too small for its place.
func sink[T any](heap []T, i int, compare func(a, b T) int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && compare(heap[child+1], heap[child]) > 0 {
			child++
		}
		if compare(heap[i], heap[child]) >= 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// yieldInOrder yields what match makes of the hits of find, in order. Hits refer to tables: they are read only inside of safely.
// buf is memory for matches, which is left without any.
func yieldInOrder[T any](ctx context.Context, s *Snapshot, buf *[]Match, find func() ([]T, error), compare func(a, b T) int, match func(*T) Match,
	yield func(Match, error) bool) {
	var hits []T
	matches := (*buf)[:0]
	defer func() {
		clear(matches)
		*buf = matches[:0]
	}()
	take := func(n int) {
		batch := bestFirst(hits, n, compare)
		hits = hits[len(batch):]
		matches = slices.Grow(matches[:0], len(batch))
		for i := range batch {
			matches = append(matches, match(&batch[i]))
		}
	}
	err := s.safely(ctx, func() (err error) {
		if hits, err = find(); err == nil && len(hits) > 0 {
			take(firstBatch)
		}
		return err
	})
	for err == nil && len(matches) > 0 {
		for i := range matches {
			if !yield(matches[i], nil) {
				return
			}
		}
		if matches = matches[:0]; len(hits) > 0 {
			err = s.safely(ctx, func() error {
				take(len(hits))
				return nil
			})
		}
	}
	if err != nil {
		yield(Match{}, err)
	}
}
