package memindex

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/internal/features"
)

// A Budget limits the total memory of the indexes of a database. The zero value allows none.
type Budget struct{ left atomic.Int64 }

// NewBudget returns a budget of bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{}
	b.left.Store(bytes)
	return b
}

// take charges the budget, if enough is left.
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

func (b *Budget) fits(bytes int64) bool { return b != nil && b.left.Load() >= bytes }

// LazyTexts is the index of a table, which the first search that needs it builds. The zero value is
// ready to use; any number of goroutines may use it.
type LazyTexts struct {
	index    atomic.Pointer[TextIndex]
	building sync.Mutex
	from     *Budget // budget that the index is charged to
	bytes    int64
}

// Have returns the index if it has been built, and nil otherwise.
func (l *LazyTexts) Have() *TextIndex { return l.index.Load() }

// TextsFit reports whether the budget allows building the index of n documents.
func TextsFit(b *Budget, n uint32) bool { return b.fits(int64(n) * textBytes) }

// waitStep is how often a search that waits for another one to build checks its context.
const waitStep = time.Millisecond

// Get returns the index, and builds it with BuildTexts if necessary; it returns nil if the budget
// does not allow it. If several searches need it at once, one builds it, and the others wait.
func (l *LazyTexts) Get(ctx context.Context, b *Budget, of features.Spec, n uint32, each EachText) (*TextIndex, error) {
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
	bytes := int64(n) * textBytes
	if !b.take(bytes) {
		return nil, nil
	}
	x, err := BuildTexts(ctx, of, n, each)
	if err != nil {
		b.left.Add(bytes)
		return nil, err
	}
	l.from, l.bytes = b, bytes
	l.index.Store(x)
	return x, nil
}

// GiveBack returns the memory of the index to the budget. Nobody may use l afterwards.
func (l *LazyTexts) GiveBack() {
	if l.from != nil {
		l.from.left.Add(l.bytes)
		l.from = nil
	}
}
