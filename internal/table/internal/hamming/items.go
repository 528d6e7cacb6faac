package hamming

import (
	"slices"

	"github.com/simdb/simdb/internal/vfs"
)

// sortItems sorts items stably by the leading bits of their keys. It uses spare as a buffer, and
// returns it, perhaps enlarged.
func sortItems(items, spare []batchItem, leading int) []batchItem {
	r := newItemRadix(leading)
	for i := range items {
		r.count(items[i].key)
	}
	r.starts()
	spare = resized(spare, len(items))
	for _, item := range items {
		slot := &r.low[r.lowDigit(item.key)]
		spare[*slot] = item
		*slot++
	}
	r.scatterHigh(items, spare)
	return spare
}

// resized returns a slice of n items, which reuses s if its capacity suffices.
func resized(s []batchItem, n int) []batchItem {
	if cap(s) < n {
		s = slices.Grow(s[:0], n)
		vfs.HugePages(s[:cap(s)])
	}
	return s[:n]
}

// itemRadix is a radix sort of items by the leading bits of their keys, at most 22, in two passes:
// the low digit first, then the high one, each stable. Both digits are counted together. The
// counters of a digit occupy 8 KB, a part of the first-level cache. If the number of bits is odd,
// items are sorted by one bit more, which does no harm.
type itemRadix struct {
	digit     int // bits per pass
	low, high [1 << itemDigit]uint32
}

// itemDigit is the maximum number of bits of a digit.
const itemDigit = 11

func newItemRadix(leading int) *itemRadix { return &itemRadix{digit: (leading + 1) / 2} }

// lowDigit returns the digit of the first pass. The remainder has no effect: it shows the compiler
// that the index is within the array, as in highDigit.
func (r *itemRadix) lowDigit(key uint64) uint64 {
	return key >> uint(64-2*r.digit) & (1<<uint(r.digit) - 1) % (1 << itemDigit)
}

func (r *itemRadix) highDigit(key uint64) uint64 { return key >> uint(64-r.digit) % (1 << itemDigit) }

func (r *itemRadix) count(key uint64) {
	r.low[r.lowDigit(key)]++
	r.high[r.highDigit(key)]++
}

// starts turns the counts of digits into the positions of the first item of each digit, and returns
// the number of items.
func (r *itemRadix) starts() (n int) {
	low, high := uint32(0), uint32(0)
	for i := range r.low {
		r.low[i], low = low, low+r.low[i]
		r.high[i], high = high, high+r.high[i]
	}
	return int(low)
}

// scatterHigh is the second pass.
func (r *itemRadix) scatterHigh(dst, src []batchItem) {
	for _, item := range src {
		slot := &r.high[r.highDigit(item.key)]
		dst[*slot] = item
		*slot++
	}
}
