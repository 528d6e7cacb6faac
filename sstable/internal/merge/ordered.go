package merge

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Ordered calls produce for the numbers 0..n-1 in several goroutines, and consume with each result
// in order, one after the other. Producers are ahead of the consumer by twice their number of
// results and two more at most, so results must not be large. It stops at the first error, which it
// returns, and when ctx ends.
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
	// slots[i%len(slots)] hands over result i; a producer may start on i when i-len(slots) has been
	// consumed.
	slots := make([]chan T, 2*workers+1)
	for i := range slots {
		slots[i] = make(chan T, 1)
	}
	next := make(chan int, len(slots))
	for i := range min(len(slots), n) {
		next <- i
	}
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case i, ok := <-next:
					if !ok {
						return nil
					}
					result, err := produce(i)
					if err != nil {
						return err
					}
					slots[i%len(slots)] <- result // there is room: what it held has been consumed
				}
			}
		})
	}
	g.Go(func() error {
		defer close(next)
		for i := range n {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case result := <-slots[i%len(slots)]:
				if err := consume(i, result); err != nil {
					return err
				}
				if more := i + len(slots); more < n {
					next <- more
				}
			}
		}
		return nil
	})
	return g.Wait()
}
