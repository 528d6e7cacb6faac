package salvage

import (
	"cmp"
	"slices"
)

// intervals is a set of sequence numbers, as ranges.
type intervals []interval

// interval is the numbers from first to last.
type interval struct{ first, last uint64 }

// add adds a range.
func (s *intervals) add(first, last uint64) {
	if n := len(*s); n > 0 && (*s)[n-1].last+1 == first { // as frames of a log follow each other
		(*s)[n-1].last = last
		return
	}
	*s = append(*s, interval{first, last})
}

// missing returns how many numbers there are after base, and before the greatest one, that no range
// has.
func (s *intervals) missing(base uint64) (n uint64) {
	slices.SortFunc(*s, func(a, b interval) int { return cmp.Compare(a.first, b.first) })
	for _, r := range *s {
		if r.first > base && r.first-base > 1 {
			n += r.first - base - 1
		}
		base = max(base, r.last)
	}
	return n
}
