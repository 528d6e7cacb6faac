// Package ordered sorts, selects and compares. It has radix sorts for 64-bit keys, alone or with a
// number each (radix.go), and counts the common keys of two lists (Common). For items of any type,
// it selects the first n without sorting all (Best, Least), sorts with cancellation (Sort,
// InPlace), delivers the first items early (Runs), and has a heap with the greatest remaining item
// at its root (Heap, Sink).
package ordered

import (
	"context"
	"slices"
)

// Best moves the n smallest items to the front, in order, and returns them. It needs O(len(items))
// time, except for items in descending order, which need log n time each.
func Best[T any](items []T, n int, compare func(a, b T) int) []T {
	if n < len(items) {
		top := items[:n] // a heap with the greatest item at its root
		Heap(top, compare)
		for i := n; i < len(items) && n > 0; i++ {
			if compare(items[i], top[0]) < 0 {
				items[i], top[0] = top[0], items[i]
				Sink(top, 0, compare)
			}
		}
		items = top
	}
	slices.SortFunc(items, compare)
	return items
}

// Heap turns items into a heap with the greatest item at the root.
func Heap[T any](items []T, compare func(a, b T) int) {
	for i := len(items)/2 - 1; i >= 0; i-- {
		Sink(items, i, compare)
	}
}

// Sink restores a heap if element i may be too small for its position.
func Sink[T any](heap []T, i int, compare func(a, b T) int) {
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

// runLength is the number of items that are sorted between two checks of the context: some
// milliseconds.
const runLength = 1 << 14

// Runs are items sorted in runs, which Next merges. They need 24 bytes of memory per run in
// addition to the items.
type Runs[T any] struct {
	heads   [][]T // the remaining items of each run, as a heap in the order of reversed
	compare func(a, b T) int
}

// Sort sorts items in place, in runs. It stops early if ctx ends.
func Sort[T any](ctx context.Context, items []T, compare func(a, b T) int) (*Runs[T], error) {
	r := &Runs[T]{compare: compare}
	for len(items) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(runLength, len(items))
		slices.SortFunc(items[:n], compare)
		r.heads = append(r.heads, items[:n])
		items = items[n:]
	}
	Heap(r.heads, r.reversed)
	return r, nil
}

// reversed orders the run with the smaller first item last, because Sink moves the last one to the
// root.
func (r *Runs[T]) reversed(a, b []T) int { return r.compare(b[0], a[0]) }

// Next removes and returns the smallest remaining item, or returns false if there is none.
func (r *Runs[T]) Next() (item T, ok bool) {
	if len(r.heads) == 0 {
		return item, false
	}
	first := r.heads[0]
	item = first[0]
	if r.heads[0] = first[1:]; len(first) == 1 {
		last := len(r.heads) - 1
		r.heads[0] = r.heads[last]
		r.heads[last] = nil
		r.heads = r.heads[:last]
	}
	Sink(r.heads, 0, r.reversed)
	return item, true
}

// A Limited collects the first Most of any number of added items, in order. It uses memory for
// about twice as many.
type Limited[T any] struct {
	Most    int // at least 1
	Compare func(a, b T) int
	items   []T
	cut     bool // items were dropped: from now on, only items less than last count
	last    T
}

// Add adds an item.
func (l *Limited[T]) Add(item T) {
	if l.cut && l.Compare(item, l.last) >= 0 {
		return
	}
	if l.items = append(l.items, item); len(l.items) >= 2*l.Most+limitedSlack {
		l.shrink()
	}
}

// limitedSlack makes shrinking rare if Most is small.
const limitedSlack = 64

func (l *Limited[T]) shrink() {
	kept := Best(l.items, l.Most, l.Compare)
	clear(l.items[len(kept):])
	l.items, l.cut, l.last = kept, true, kept[len(kept)-1]
}

// Last returns the last of Most items, if others were dropped. Items that are not less than last
// need not be added. It returns false if no items were dropped yet.
func (l *Limited[T]) Last() (last T, ok bool) { return l.last, l.cut }

// Sorted returns the first Most items, in order; more reports whether others were dropped. It is
// fast if the number of dropped items is small, and sorting all items can be cancelled.
func (l *Limited[T]) Sorted(ctx context.Context) (items *Runs[T], more bool, err error) {
	if more = l.cut || len(l.items) > l.Most; more {
		l.items = l.Items()
	}
	items, err = Sort(ctx, l.items, l.Compare)
	return items, more, err
}

// Items returns the first Most items, in order.
func (l *Limited[T]) Items() []T { return Best(l.items, l.Most, l.Compare) }

// Numbers returns the numbers from 0 to n-1.
func Numbers(n int) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i)
	}
	return all
}
