// Package ordered sorts, selects and compares: 64-bit keys by radix sort, alone or with a number
// each (radix.go), the common ones of two lists (Common), and items of any type, the first n
// without sorting all of them (Best, Least), with cancellation (Sort, InPlace), with the first
// items early (Runs), or the greatest of those that are left (Heap, Sink).
package ordered

import (
	"context"
	"slices"
)

// Best moves the n least of items to the front, in order, and returns them: in time O(len(items)),
// except for items in descending order, which take log n each.
func Best[T any](items []T, n int, compare func(a, b T) int) []T {
	if n < len(items) {
		top := items[:n] // a heap, the last in order at its root
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

// Heap makes items a heap: the greatest is at the root.
func Heap[T any](items []T, compare func(a, b T) int) {
	for i := len(items)/2 - 1; i >= 0; i-- {
		Sink(items, i, compare)
	}
}

// Sink restores a heap below element i, which may be too small for its place.
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

// runLength is how many items are sorted between two looks at the context: some milliseconds.
const runLength = 1 << 14

// Runs are items that have been sorted in runs, which Next merges. Memory beyond the items is 24
// bytes a run.
type Runs[T any] struct {
	heads   [][]T // what is left of each run, as a heap: the greatest in the order of reversed at its root
	compare func(a, b T) int
}

// Sort sorts items in place, in runs. It ends early if ctx is done.
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

// reversed puts the run whose first item is less after the other: Sink keeps the last in its order
// at the root.
func (r *Runs[T]) reversed(a, b []T) int { return r.compare(b[0], a[0]) }

// Next takes the least item that is left; false if there is none.
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

// A Limited collects the first Most items in order of any number that are added, in memory for
// about twice as many.
type Limited[T any] struct {
	Most    int // at least 1
	Compare func(a, b T) int
	items   []T
	cut     bool // items have been left out: none that is not less than last counts any more
	last    T
}

// Add takes an item.
func (l *Limited[T]) Add(item T) {
	if l.cut && l.Compare(item, l.last) >= 0 {
		return
	}
	if l.items = append(l.items, item); len(l.items) >= 2*l.Most+limitedSlack {
		l.shrink()
	}
}

// limitedSlack makes few enough shrinks of a small Limited.
const limitedSlack = 64

func (l *Limited[T]) shrink() {
	kept := Best(l.items, l.Most, l.Compare)
	clear(l.items[len(kept):])
	l.items, l.cut, l.last = kept, true, kept[len(kept)-1]
}

// Last returns the last of Most items that are less than all that were left out, false if none was
// left out yet: an item that is not less need not be added.
func (l *Limited[T]) Last() (last T, ok bool) { return l.last, l.cut }

// Sorted returns the first Most items, in order; more says that others have been left out. Few
// items that were left out make it cheap, and a sort of all can be cancelled.
func (l *Limited[T]) Sorted(ctx context.Context) (items *Runs[T], more bool, err error) {
	if more = l.cut || len(l.items) > l.Most; more {
		l.items = l.Items()
	}
	items, err = Sort(ctx, l.items, l.Compare)
	return items, more, err
}

// Items returns the first Most items, in order.
func (l *Limited[T]) Items() []T { return Best(l.items, l.Most, l.Compare) }
