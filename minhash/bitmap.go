package minhash

import (
	"math"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// Bitmap has bit h mod 256 set for every hash h of a sketch. A bit that is set for A but not for B
// proves that B lacks a hash of A, so the bitmaps, 32 bytes each, reject most pairs of sketches
// without false negatives.
type Bitmap [4]uint64

// Bitmap returns the bitmap of s.
func (s Sketch) Bitmap() (b Bitmap) {
	for _, h := range s {
		b[h>>6&3] |= 1 << (h & 63)
	}
	return b
}

// Missing returns a lower bound for the number of hashes of the sketch of b that the sketch of
// c lacks: the number of bits that are set in b but not in c.
func (b *Bitmap) Missing(c *Bitmap) int {
	return bits.OnesCount64(b[0]&^c[0]) + bits.OnesCount64(b[1]&^c[1]) + bits.OnesCount64(b[2]&^c[2]) + bits.OnesCount64(b[3]&^c[3])
}

// Filter appends to dst, ascending, the indices of the bitmaps c for which b.Missing(c) is at most
// maxMissing.
func (b *Bitmap) Filter(dst []uint32, bitmaps []Bitmap, maxMissing int) []uint32 {
	return kernel.FilterBitmaps(dst, b, bitmaps, maxMissing)
}

// MaxMissing returns the maximum number of hashes of a sketch of size hashes that another sketch
// may lack if the score of the two by [Jaccard] is t or more; t must be in (0, 1]. If
// a.Bitmap().Missing(b.Bitmap()) exceeds MaxMissing(len(a), t), then Jaccard(a, b, n).Score is
// below t, for any n.
//
// Proof: let C be the number of common hashes up to tau and U the number of hashes in the union up
// to tau, so that C >= t U. If tau does not cut A short, U >= |A|; else tau is the last hash of B,
// which is full, and U >= N >= |A|. So C >= t |A|.
func MaxMissing(size int, t float64) int { return size - atLeast(t*float64(size)) }

// atLeast returns the least integer that is at least x, where x may be too large by a rounding
// error.
func atLeast(x float64) int { return int(math.Ceil(x * (1 - 1e-12))) }

// LeastCommon returns the minimum number of hashes that two sketches of a and b hashes, at most n
// each, have in common if their score by [Jaccard] is t or more; t must be in (0, 1].
//
// Common hashes are at most tau, so they can be counted without knowing tau. The union up to
// tau has at least the n hashes of the sketch that ends there; if neither sketch is full, the
// union is known except for the number of common hashes.
func LeastCommon(a, b, n int, t float64) int {
	if a < n && b < n {
		return atLeast(t / (1 + t) * float64(a+b))
	}
	return atLeast(t * float64(n))
}

// JaccardAtLeast returns the score of [Jaccard] if it is at least t; t must be in (0, 1]. ok
// reports whether it is; if not, score is meaningless. It stops as soon as the sketches have too
// few common hashes, and so is faster than Jaccard.
func JaccardAtLeast(a, b Sketch, n int, t float64) (score Score, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return Score{Exact: true}, false
	}
	common := kernel.Common(a, b, LeastCommon(len(a), len(b), n, t))
	if common < 0 {
		return Score{}, false
	}
	o := tauOverlap(a, b, n)
	o.common = common
	score = ratio(o.common, o.union(), o.exact)
	return score, score.Score >= t
}
