package features

import (
	"math"

	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/minhash"
)

// appendCopies appends the copies that represent features of a whole weight in a set of elements: as
// many as the weight, so that the Jaccard similarity of two such sets is the weighted one of the
// features. Copy 0 is the feature itself.
func appendCopies(dst, hashes []uint64, weight float64) []uint64 {
	dst = append(dst, hashes...)
	for i := uint64(1); i < uint64(weight); i++ {
		for _, h := range hashes {
			dst = append(dst, token.Mix(h+i*golden))
		}
	}
	return dst
}

// golden is the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// A sampler makes sketches of features with real weights. A feature has infinitely many random
// points, uniform in the plane of weights and hashes, which depend on the feature alone. A document
// has those of its features' points that are below the feature's weight in it, and its sketch is the
// least of their hashes. So two sketches estimate the weighted Jaccard similarity without bias like
// those of very large sets: a sketch is always full and never the whole set, and its error does not
// depend on the scale of the weights. (Consistent weighted sampling: Manasse, McSherry, Talwar 2010;
// as a Poisson process: Ertl, "BagMinHash", KDD 2018; Christiani, "DartMinHash", 2020; as a bottom-k
// sketch: Cohen, Kaplan, "Summarizing Data Using Bottom-k Sketches", PODC 2007.)
//
// The axis of weights is divided into cells, of doubling width. The hashes of a cell's points are a
// Poisson process, which is generated in ascending order up to a limit.
type sampler struct {
	size    int
	hashes  []uint64
	weights []float64
	points  []uint64
	nothing [sampleCells]float64 // by cell: probability that it has no point below the limit
}

const (
	sampleCells   = 41      // the first one ends at 2^-20, the last one at MaxWeight squared
	sampleDensity = 1 << 10 // points of a weight of 1: a sketch is full from a sum of 1/8 on, and coarse above 10^5
	samplePoints  = 3       // expected points below the first limit, for each one wanted
)

// cellWidths are the widths of cells, which are also their lower ends except for that of cell 0.
var cellWidths = func() (w [sampleCells]float64) {
	for c := range w {
		w[c] = math.Ldexp(1, max(c, 1)-21)
	}
	return w
}()

func (s *sampler) reset() { s.hashes, s.weights = s.hashes[:0], s.weights[:0] }

// add adds features that were not added before.
func (s *sampler) add(hashes []uint64, weight float64) {
	s.hashes = append(s.hashes, hashes...)
	for range hashes {
		s.weights = append(s.weights, weight)
	}
}

// sketch returns the sketch of the features that were added.
func (s *sampler) sketch(b *minhash.Bottom) minhash.Sketch {
	total := 0.0
	for _, w := range s.weights {
		total += w
	}
	for limit := samplePoints * float64(s.size) / (sampleDensity * total); ; limit *= 4 {
		limit = min(limit, 1)
		b.Reset(0)
		s.sample(b, limit)
		if sketch, _ := b.Sketch(); len(sketch) == s.size || limit == 1 {
			return sketch
		}
	}
}

// sample adds the points whose hashes are below limit, as a share of all.
func (s *sampler) sample(b *minhash.Bottom, limit float64) {
	for c := range s.nothing {
		s.nothing[c] = math.Exp(-cellWidths[c] * sampleDensity * limit)
	}
	for i, h := range s.hashes {
		s.points = s.points[:0]
		low, w := 0.0, s.weights[i]
		for c := 0; c < sampleCells && low < w; c++ {
			width, at, state := cellWidths[c], 0.0, token.Mix(h+uint64(c)*golden)
			for {
				u := unit(&state)
				if at == 0 && u < s.nothing[c] {
					break
				}
				if at -= math.Log(u) / (width * sampleDensity); at >= limit {
					break
				}
				if low+unit(&state)*width < w {
					s.points = append(s.points, uint64(at*(1<<32))<<32)
				}
			}
			low += width
		}
		b.Shingles(s.points)
	}
}

// unit returns the next random number in (0, 1] of a generator, SplitMix64.
func unit(state *uint64) float64 {
	*state += golden
	return float64(token.Mix(*state)>>11+1) / (1 << 53)
}
