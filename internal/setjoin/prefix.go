package setjoin

import (
	"math"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

// A threshold is the least Jaccard similarity of two sets that match.
type threshold struct {
	t     float64
	ratio float64 // t / (1+t): the least overlap, as a share of the two sizes together
}

func newThreshold(t float64) threshold { return threshold{t, t / (1 + t)} }

// score returns the Jaccard similarity of sets of these sizes that share common elements.
func score(x, y, common int) float64 { return float64(common) / float64(x+y-common) }

// need returns the least overlap with which sets of these sizes match. It is exact: it is what
// score decides.
func (t threshold) need(x, y int) int {
	c := int(math.Ceil(t.ratio * float64(x+y)))
	for c > 1 && score(x, y, c-1) >= t.t {
		c--
	}
	for score(x, y, c) < t.t && c < x+y {
		c++
	}
	return c
}

// about returns need, or one less where rounding might be in the way: for filters.
func (t threshold) about(x, y int) int { return int(math.Ceil(t.ratio*float64(x+y) - 1e-6)) }

// long returns how long the prefix of a set of size n is: the least partner that can match is a
// subset.
func (t threshold) long(n int) int {
	if n == 0 {
		return 0
	}
	least := int(math.Ceil(t.t * float64(n)))
	for least > 1 && float64(least-1)/float64(n) >= t.t {
		least--
	}
	for least < n && float64(least)/float64(n) < t.t {
		least++
	}
	return n - least + 1
}

// short returns how long the first part of that prefix is, which is enough for partners that are no
// smaller. A larger partner needs more overlap, not less.
func (t threshold) short(n int) int {
	if n == 0 {
		return 0
	}
	return n - t.need(n, n) + 1
}

// A prefix is that of a set.
type prefix struct {
	keys  []uint64 // ascending
	alone int      // elements before these, which are in no other set: keys[i] is at position alone+i
	size  int      // of the set
	short int      // positions below this are the first part
}

// prefixer makes prefixes; it is the scratch memory of one goroutine.
type prefixer struct {
	counts *counts
	t      threshold
	keys   []uint64
}

// of appends the keys of a set's prefix to dst.
func (p *prefixer) of(set, dst []uint64) (prefix, []uint64) {
	f := prefix{size: len(set), short: p.t.short(len(set))}
	p.keys = p.counts.appendShared(p.keys[:0], set)
	f.alone = len(set) - len(p.keys)
	n := p.t.long(len(set)) - f.alone
	if n <= 0 {
		return f, dst
	}
	p.counts.rank(p.keys)
	from := len(dst)
	n = min(n, len(p.keys))
	ordered.Least(p.keys, n)
	dst = append(dst, p.keys[:n]...)
	f.keys = dst[from:len(dst):len(dst)]
	slices.Sort(f.keys)
	return f, dst
}
