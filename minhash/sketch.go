package minhash

import (
	"math"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
)

// Sketch is the bottom-N sketch of a set: the N smallest distinct 32-bit hashes of its elements,
// ascending, or all hashes if there are fewer. N is a parameter of the whole corpus and not stored
// in the sketch.
type Sketch []uint32

// Clone returns a copy of s.
func (s Sketch) Clone() Sketch { return slices.Clone(s) }

// Score is an estimate of the Jaccard similarity of two sets, |A n B| / |A u B|, from their
// sketches.
type Score struct {
	Score float64 // in [0,1]; 0 if either set is empty
	Error float64 // standard error of Score, 0 if Exact
	Exact bool    // neither sketch was full: they represent the whole sets
}

// overlap describes two sketches up to tau, the largest hash up to which both are complete.
type overlap struct {
	a, b   int  // number of elements of each sketch up to tau
	common int  // number of common elements
	exact  bool // neither sketch was full
}

// union returns the number of distinct elements up to tau.
func (o overlap) union() int { return o.a + o.b - o.common }

// tauOverlap finds the overlap of two sketches of size n, neither empty, except for the number of
// common hashes.
func tauOverlap(a, b Sketch, n int) overlap {
	tau := uint32(math.MaxUint32)
	if len(a) >= n {
		tau = a[len(a)-1]
	}
	if len(b) >= n {
		tau = min(tau, b[len(b)-1])
	}
	return overlap{a: upTo(a, tau), b: upTo(b, tau), exact: len(a) < n && len(b) < n}
}

// compare finds the overlap of two sketches of size n, neither empty.
func compare(a, b Sketch, n int) overlap {
	o := tauOverlap(a, b, n)
	o.common = kernel.Common(a[:o.a], b[:o.b], 0)
	return o
}

// upTo returns how many elements of s are at most tau.
func upTo(s Sketch, tau uint32) int {
	if len(s) == 0 || s[len(s)-1] <= tau {
		return len(s)
	}
	n, _ := slices.BinarySearch(s, tau)
	if n < len(s) && s[n] == tau {
		n++
	}
	return n
}

// Jaccard estimates the Jaccard similarity of two sets from their sketches of size n.
//
// Let tau be the smaller of the last hashes of the full sketches. Up to tau both sketches are
// complete, so their hashes up to tau are a random sample of the union of the sets, and the share
// of common hashes in the sample is an unbiased estimate of the similarity, whatever the sizes of
// the sets.
func Jaccard(a, b Sketch, n int) Score {
	if len(a) == 0 || len(b) == 0 {
		return Score{Exact: true}
	}
	o := compare(a, b, n)
	return ratio(o.common, o.union(), o.exact)
}

// ratio returns the share of common elements in a sample of the given size, with the standard error
// of a binomial proportion.
func ratio(common, size int, exact bool) Score {
	p := float64(common) / float64(size)
	s := Score{Score: p, Exact: exact}
	if !exact {
		s.Error = math.Sqrt(p * (1 - p) / float64(size))
	}
	return s
}

// Containment estimates, from sketches of size n, the share of A that is also in B, |A n B| / |A|,
// and the share of B that is also in A. For a quotation and its source, the first is near 1 and the
// second small.
func Containment(a, b Sketch, n int) (aInB, bInA Score) {
	if len(a) == 0 || len(b) == 0 {
		return Score{Exact: true}, Score{Exact: true}
	}
	o := compare(a, b, n)
	if o.a > 0 {
		aInB = ratio(o.common, o.a, o.exact)
	}
	if o.b > 0 {
		bInA = ratio(o.common, o.b, o.exact)
	}
	return aInB, bInA
}

// SketchJaccard returns |A n B| / |A u B| of the sketches themselves. If at least one sketch is
// full, it is a biased estimate of the similarity of the sets: each sketch ends at its own last
// hash, and hashes of one sketch beyond the end of the other count as differences. For sets of
// sizes 1 : 1.2 with similarity 0.8, and N = 128, it is 0.69 on average. It is provided because it
// is in common use; [Jaccard] has no such bias.
func SketchJaccard(a, b Sketch) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := kernel.Common(a, b, 0)
	return float64(n) / float64(len(a)+len(b)-n)
}

// Merge appends to dst the sketch of size n of the union of two sets, given their sketches a and b
// of size n. dst must not overlap them.
func Merge(dst, a, b Sketch, n int) Sketch {
	for ; n > 0 && len(a)+len(b) > 0; n-- {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			dst, a = append(dst, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			dst, b = append(dst, b[0]), b[1:]
		default:
			dst, a, b = append(dst, a[0]), a[1:], b[1:]
		}
	}
	return dst
}
