// Package window selects the rows that LIMIT and OFFSET choose.
package window

import (
	"math"
)

// Window holds LIMIT and OFFSET.
type Window struct {
	Limit  int // -1 for none
	Offset int
}

// First returns how many rows must be computed to reach the end of the window; -1 for all.
func (w Window) First() int {
	if w.Limit < 0 || w.Offset > math.MaxInt-w.Limit {
		return -1
	}
	if w.Limit == 0 {
		return 0
	}
	return w.Limit + w.Offset
}

// Count returns how many of n rows are in the window.
func (w Window) Count(n int64) int64 {
	n = max(0, n-int64(w.Offset))
	if w.Limit >= 0 {
		n = min(n, int64(w.Limit))
	}
	return n
}

// Admit moves the window on by one row. It reports whether that row is in the window, and whether
// no later row is.
func (w *Window) Admit() (in, last bool) {
	switch {
	case w.Limit == 0:
		return false, true
	case w.Offset > 0:
		w.Offset--
		return false, false
	case w.Limit > 0:
		w.Limit--
	}
	return true, w.Limit == 0
}
