package exhaustive

import (
	"context"
	"sync/atomic"
)

// Ending is a context that ends at its n-th use, so that a test can end an operation at every
// moment when it can notice.
type Ending struct {
	context.Context
	end   context.CancelFunc
	n     int64
	looks atomic.Int64
}

// EndAt returns a context that ends at use n, counted from 1; never for 0.
func EndAt(n int) *Ending {
	ctx, end := context.WithCancel(context.Background())
	return &Ending{Context: ctx, end: end, n: int64(n)}
}

// Look counts a use. Tests call it for events outside the context, such as file operations.
func (e *Ending) Look() {
	if e.looks.Add(1) == e.n {
		e.end()
	}
}

// Looks returns the number of uses so far.
func (e *Ending) Looks() int { return int(e.looks.Load()) }

// Done implements context.Context.
func (e *Ending) Done() <-chan struct{} {
	e.Look()
	return e.Context.Done()
}

// Err implements context.Context.
func (e *Ending) Err() error {
	e.Look()
	return e.Context.Err()
}
