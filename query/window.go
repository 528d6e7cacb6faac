package query

import (
	"fmt"
	"iter"
	"math"

	"github.com/simdb/simdb/engine"
)

// window is LIMIT and OFFSET.
type window struct {
	limit  int // -1: none
	offset int
}

// first returns how many rows, from the first on, hold the window; -1 if that may be all.
func (w window) first() int {
	if w.limit < 0 || w.offset > math.MaxInt-w.limit {
		return -1
	}
	if w.limit == 0 {
		return 0
	}
	return w.limit + w.offset
}

// count returns how many of n rows are in the window.
func (w window) count(n int64) int64 {
	n = max(0, n-int64(w.offset))
	if w.limit >= 0 {
		n = min(n, int64(w.limit))
	}
	return n
}

// cutTo yields those of rows that are in the window.
func cutTo[T any](w window, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		skip, rest := w.offset, w.limit
		if rest == 0 {
			return
		}
		for row, err := range rows {
			if err == nil && skip > 0 {
				skip--
				continue
			}
			if !yield(row, err) || err != nil {
				return
			}
			if rest--; rest == 0 {
				return
			}
		}
	}
}

// Bytes that a statement holds for each thing besides its id, while a slice or map of them grows.
const (
	resultBytes = 2 * 96
	seenBytes   = 64
	matchBytes  = 160
)

// hold notes that the statement holds so many bytes more of what it has found, and fails if it may
// not.
func (x *run) hold(bytes int) error {
	x.held += int64(bytes)
	if x.held > x.db.Memory() {
		return fmt.Errorf("what the statement has found does not fit into the memory that it may hold: use LIMIT or COUNT, "+
			"or allow more (--memory, Options.Memory): %w", engine.ErrTooLarge)
	}
	return nil
}
