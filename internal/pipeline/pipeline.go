// Package pipeline has work done in several goroutines and its results taken in order.
package pipeline

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// A Line works on items in several goroutines and takes them in the order in which they were added.
// It serves one goroutine, which takes them too. There are at most twice as many items under way as
// goroutines, so these must not be large.
type Line[T any] struct {
	take    func(T) error
	work    chan *item[T]
	queue   []*item[T] // in order; the oldest is taken before another one is queued
	stopped atomic.Bool
	workers sync.WaitGroup
}

// An item is one on its way.
type item[T any] struct {
	value T
	err   error
	done  chan struct{}
}

// New returns a Line of several goroutines. In each of them worker returns a function for that one,
// which works on an item; take is called with each item, unless that function has failed. Stop ends
// the goroutines.
func New[T any](workers int, worker func() func(T) error, take func(T) error) *Line[T] {
	l := &Line[T]{take: take, work: make(chan *item[T], 2*workers)}
	for range workers {
		l.workers.Go(func() {
			do := worker()
			for it := range l.work {
				if !l.stopped.Load() {
					it.err = do(it.value)
				}
				close(it.done)
			}
		})
	}
	return l
}

// Add takes the oldest item if enough are under way. The error is that of working on an item or of
// taking it, after which the Line can only be stopped.
func (l *Line[T]) Add(value T) error {
	it := &item[T]{value: value, done: make(chan struct{})}
	l.queue = append(l.queue, it)
	l.work <- it // there is room: no more are queued than it holds
	if len(l.queue) < cap(l.work) {
		return nil
	}
	return l.next()
}

// next takes the oldest item.
func (l *Line[T]) next() error {
	it := l.queue[0]
	l.queue = slices.Delete(l.queue, 0, 1)
	<-it.done
	if it.err != nil {
		return it.err
	}
	return l.take(it.value)
}

// Finish takes all items that are under way. The error is as that of Add.
func (l *Line[T]) Finish() error {
	for len(l.queue) > 0 {
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends the goroutines, once they have done what they are at. What is under way is dropped.
func (l *Line[T]) Stop() {
	l.stopped.Store(true)
	close(l.work)
	l.workers.Wait()
}

// Ordered calls produce for the numbers 0..n-1 in several goroutines, and consume with each result
// in order, one after the other, in that of the caller. Producers are ahead of the consumer by
// twice their number of results at most, so results must not be large. It stops at the first error
// in order, which it returns, and when ctx ends.
func Ordered[T any](ctx context.Context, n, workers int, produce func(i int) (T, error), consume func(i int, result T) error) error {
	if workers = min(workers, n); workers <= 1 {
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			result, err := produce(i)
			if err == nil {
				err = consume(i, result)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	type numbered struct {
		i      int
		result T
	}
	worker := func() func(*numbered) error {
		return func(p *numbered) (err error) {
			if err = ctx.Err(); err == nil {
				p.result, err = produce(p.i)
			}
			return err
		}
	}
	l := New(workers, worker, func(p *numbered) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return consume(p.i, p.result)
	})
	defer l.Stop()
	for i := range n {
		if err := l.Add(&numbered{i: i}); err != nil {
			return err
		}
	}
	return l.Finish()
}
