// Package pipeline runs work in parallel and delivers the results in order.
package pipeline

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// A Line processes items in several goroutines and delivers them in the order in which they were
// added. Only one goroutine may add items; delivery happens in that goroutine, too. At most twice
// as many items as goroutines are in progress, so items must not be large.
type Line[T any] struct {
	take    func(T) error
	work    chan *item[T]
	queue   []*item[T] // in order; the oldest is delivered before another one is added
	stopped atomic.Bool
	workers sync.WaitGroup
}

type item[T any] struct {
	value T
	err   error
	done  chan struct{}
}

// New returns a Line with several goroutines. Each goroutine calls worker once and processes items
// with the function that it returns. take is called with each processed item; if processing fails,
// it is not called, and Add or Finish returns the error. Stop ends the goroutines.
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

// Add adds an item, and delivers the oldest one if enough are in progress. The error may come from
// processing or delivering an earlier item; after it, the Line can only be stopped.
func (l *Line[T]) Add(value T) error {
	it := &item[T]{value: value, done: make(chan struct{})}
	l.queue = append(l.queue, it)
	l.work <- it // does not block: the queue is never longer than the channel's capacity
	if len(l.queue) < cap(l.work) {
		return nil
	}
	return l.next()
}

// next delivers the oldest item.
func (l *Line[T]) next() error {
	it := l.queue[0]
	l.queue = slices.Delete(l.queue, 0, 1)
	<-it.done
	if it.err != nil {
		return it.err
	}
	return l.take(it.value)
}

// Finish delivers all remaining items. Its errors are the errors of Add.
func (l *Line[T]) Finish() error {
	for len(l.queue) > 0 {
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends the goroutines after their current items. Other items are dropped.
func (l *Line[T]) Stop() {
	l.stopped.Store(true)
	close(l.work)
	l.workers.Wait()
}

// A Batcher fills batches for a Line. It is used in the same goroutine as the Line.
type Batcher[T any] struct {
	*Line[*T]
	next *T
	free []*T
}

// Next returns the batch to fill.
func (b *Batcher[T]) Next() *T {
	if n := len(b.free); b.next == nil && n > 0 {
		b.next, b.free = b.free[n-1], b.free[:n-1]
	} else if b.next == nil {
		b.next = new(T)
	}
	return b.next
}

// Send adds the batch to the Line.
func (b *Batcher[T]) Send() error {
	full := b.next
	b.next = nil
	return b.Add(full)
}

// Reuse lets Next return a delivered batch again. The caller must have emptied it.
func (b *Batcher[T]) Reuse(empty *T) { b.free = append(b.free, empty) }

// Finish delivers all batches, including the last one, which may not be full.
func (b *Batcher[T]) Finish() error {
	if b.next != nil {
		if err := b.Send(); err != nil {
			return err
		}
	}
	return b.Line.Finish()
}

// Each calls do for the numbers 0..n-1 in several goroutines, until ctx ends or do returns an error.
// Each returns the first error in order.
func Each(ctx context.Context, n, workers int, do func(i int) error) error {
	return Ordered(ctx, n, workers, func(i int) (struct{}, error) { return struct{}{}, do(i) }, func(int, struct{}) error { return nil })
}

// Ordered calls produce for the numbers 0..n-1 in several goroutines. In the calling goroutine, it
// calls consume with each result, in order. At most twice as many results as producers wait for the
// consumer, so results must not be large. Ordered stops when ctx ends, and at the first error in
// order, which it returns.
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

// Concat yields the values of all sequences that expand returns for the values of seq, one sequence
// after the other. seq runs in a goroutine. Up to workers sequences run concurrently, each in its
// own goroutine and up to ahead values ahead. Concat yields all errors in order and, if ctx ends,
// its cause at the end. seq and expand get a context that ends with the loop, which then waits for
// the goroutines.
func Concat[S, T any](ctx context.Context, workers, ahead int, seq func(context.Context) iter.Seq2[S, error], expand func(context.Context, S) iter.Seq2[T, error]) iter.Seq2[T, error] {
	type result struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		within, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		streams := make(chan chan result, workers-1)
		all.Go(func() {
			defer close(streams)
			for s, err := range seq(within) {
				out := make(chan result, max(ahead, 1))
				select {
				case streams <- out:
				case <-within.Done():
					return
				}
				if err != nil {
					out <- result{err: err}
					close(out)
					continue
				}
				all.Go(func() {
					defer close(out)
					for value, err := range expand(within, s) {
						select {
						case out <- result{value, err}:
						case <-within.Done():
							return
						}
					}
				})
			}
		})
		for out := range streams {
			for r := range out {
				if !yield(r.value, r.err) {
					return
				}
			}
		}
		if ctx.Err() != nil {
			var none T
			yield(none, context.Cause(ctx))
		}
	}
}

// Arrivals yields the values of seq in slices: all values that arrived while the loop was busy with
// the previous slice, or the next value. seq, which yields each value with its size, runs in a
// goroutine. It waits while count values, or as many bytes as the limit, have not been consumed. It
// gets a context that ends with the loop, which then waits for it. A slice is valid until the next
// one.
func Arrivals[T any](ctx context.Context, count, bytes int, seq func(context.Context) iter.Seq2[T, int]) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		ctx, cancel := context.WithCancel(ctx)
		q := &arrivals[T]{count: count, most: bytes}
		q.changed.L = &q.mu
		var producer sync.WaitGroup
		producer.Go(func() {
			for value, size := range seq(ctx) {
				if !q.put(value, size) {
					break
				}
			}
			q.end(&q.ended)
		})
		defer producer.Wait()
		defer cancel()
		defer q.end(&q.stopped)
		var values []T
		for {
			if values = q.take(values); len(values) == 0 || !yield(values) {
				return
			}
		}
	}
}

// arrivals are the values that have arrived and have not yet been consumed.
type arrivals[T any] struct {
	count, most int // numbers of values and bytes at which put waits

	mu      sync.Mutex
	changed sync.Cond // signals changes of the fields below
	values  []T
	bytes   int
	ended   bool // no more values will arrive
	stopped bool // no more values are consumed
}

// put adds a value as soon as the limits allow, and reports whether more values are wanted.
func (q *arrivals[T]) put(value T, size int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped && (len(q.values) >= q.count || q.bytes >= q.most) {
		q.changed.Wait()
	}
	q.values, q.bytes = append(q.values, value), q.bytes+size
	q.changed.Broadcast()
	return !q.stopped
}

// take waits for values and returns all values that have arrived, or nothing at the end. It reuses
// the memory of spare for later values.
func (q *arrivals[T]) take(spare []T) []T {
	clear(spare)
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.values) == 0 && !q.ended {
		q.changed.Wait()
	}
	taken := q.values
	q.values, q.bytes = spare[:0], 0
	q.changed.Broadcast()
	return taken
}

// end sets a flag of q, and wakes all waiting goroutines.
func (q *arrivals[T]) end(flag *bool) {
	q.mu.Lock()
	*flag = true
	q.mu.Unlock()
	q.changed.Broadcast()
}
