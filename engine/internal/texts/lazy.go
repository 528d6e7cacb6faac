package texts

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Budget limits what the indexes of a database take together. The zero value has no room.
type Budget struct{ left atomic.Int64 }

// NewBudget returns a budget of bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{}
	b.left.Store(bytes)
	return b
}

// take takes bytes from the budget if it has them.
func (b *Budget) take(bytes int64) bool {
	if b == nil {
		return false
	}
	if b.left.Add(-bytes) >= 0 {
		return true
	}
	b.left.Add(bytes)
	return false
}

// fits reports whether the budget has bytes.
func (b *Budget) fits(bytes int64) bool { return b != nil && b.left.Load() >= bytes }

// Lazy is the index of a table, which the first search that needs it builds. The zero value is
// ready; any number of goroutines may use it.
type Lazy struct {
	index    atomic.Pointer[Index]
	building sync.Mutex
	from     *Budget // that the index has taken bytes from
	bytes    int64
}

// Have returns the index if it has been built, else nil.
func (l *Lazy) Have() *Index { return l.index.Load() }

// Fits reports whether the budget has room for the index of n documents, which is not built yet.
func Fits(b *Budget, n uint32) bool { return b.fits(int64(n) * BytesPerText) }

// waitStep is how often a search that waits for another one to build looks at its context.
const waitStep = time.Millisecond

// Get returns the index, which it builds as Build does if need be; nil if the budget has no room
// for it. Of searches at the same time one builds, and the others wait for it.
func (l *Lazy) Get(ctx context.Context, b *Budget, n uint32, each Each) (*Index, error) {
	if x := l.index.Load(); x != nil {
		return x, nil
	}
	for !l.building.TryLock() {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(waitStep):
		}
	}
	defer l.building.Unlock()
	if x := l.index.Load(); x != nil {
		return x, nil
	}
	bytes := int64(n) * BytesPerText
	if !b.take(bytes) {
		return nil, nil
	}
	x, err := Build(ctx, n, each)
	if err != nil {
		b.left.Add(bytes)
		return nil, err
	}
	l.from, l.bytes = b, bytes
	l.index.Store(x)
	return x, nil
}

// GiveBack gives the memory of the index back to the budget. Nobody may use l any more.
func (l *Lazy) GiveBack() {
	if l.from != nil {
		l.from.left.Add(l.bytes)
		l.from = nil
	}
}
