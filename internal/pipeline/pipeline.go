// Package pipeline has work done in several goroutines and its results taken in order.
package pipeline

import (
	"context"
	"iter"
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

// A Batcher fills batches for a Line, one after the other. It serves the goroutine of the Line.
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

// Reuse lets Next return a batch that was taken, emptied by the caller, for its memory.
func (b *Batcher[T]) Reuse(empty *T) { b.free = append(b.free, empty) }

// Finish takes all batches, also the one that is not full.
func (b *Batcher[T]) Finish() error {
	if b.next != nil {
		if err := b.Send(); err != nil {
			return err
		}
	}
	return b.Line.Finish()
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

// Concat yields what the sequences that expand makes of the values of seq yield, one sequence after
// the other. seq runs in a goroutine, and up to workers sequences do in one each, up to ahead
// values before they are taken. It yields the errors of all of them in order, and at last the cause
// if ctx ends. Both get a context that ends with the loop, which then waits for the goroutines.
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

// Arrivals yields the values of seq, each with its size, in slices: all that have come while the
// loop was busy with the slice before, or the next one. seq runs in a goroutine, which waits when
// count values, or more bytes than the limit, have not been taken. It gets a context that ends with
// the loop, which then waits for it. A slice is valid until the next one.
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

// arrivals are values that have come and have not been taken yet.
type arrivals[T any] struct {
	count, most int // of values and bytes, after which put waits

	mu      sync.Mutex
	changed sync.Cond // of the fields below
	values  []T
	bytes   int
	ended   bool // no more will come
	stopped bool // no more is taken
}

// put adds a value, once there is room, and reports whether more are wanted.
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

// take waits until something has come, and returns all of it; nothing at the end. Its memory
// becomes that of room.
func (q *arrivals[T]) take(room []T) []T {
	clear(room)
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.values) == 0 && !q.ended {
		q.changed.Wait()
	}
	taken := q.values
	q.values, q.bytes = room[:0], 0
	q.changed.Broadcast()
	return taken
}

// end sets a flag of q.
func (q *arrivals[T]) end(flag *bool) {
	q.mu.Lock()
	*flag = true
	q.mu.Unlock()
	q.changed.Broadcast()
}
