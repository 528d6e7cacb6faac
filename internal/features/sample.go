package features

import (
	"math"
	"slices"

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
// points, uniform in the plane of weights and distances, which depend on the feature alone. A document
// has those of its features' points that are below the feature's weight in it, and its sketch is the
// nearest one. So two sketches estimate the weighted Jaccard similarity without bias like those of
// very large sets: a sketch is always full and never the whole set, and its error does not depend on
// the scale of the weights. (Consistent weighted sampling: Manasse, McSherry, Talwar 2010; as a
// Poisson process: Ertl, "BagMinHash", KDD 2018; Christiani, "DartMinHash", 2020; as a bottom-k
// sketch: Cohen, Kaplan, "Summarizing Data Using Bottom-k Sketches", PODC 2007.)
//
// The axis of weights is divided into cells, of doubling width. The distances of a cell's points are a
// Poisson process, which is generated in ascending order up to a limit. The hash of a point has the
// bits of its distance as a float32, which have the order of distances of any size.
type sampler struct {
	size    int
	hashes  []uint64
	weights []float64
	points  minhash.Sketch
	nothing [sampleCells]float64 // by cell: probability that it has no point below the limit
}

const (
	sampleCells  = 61 // the first one ends at 2^-40, below MinWeight squared, and the last one at MaxWeight squared
	samplePoints = 3  // expected points below the first limit, for each one wanted
)

// cellWidths are the widths of cells, which are also their lower ends except for that of cell 0.
var cellWidths = func() (w [sampleCells]float64) {
	for c := range w {
		w[c] = math.Ldexp(1, max(c, 1)-41)
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

// sketch returns the sketch of the features that were added, at least one. It is valid until the next
// call.
func (s *sampler) sketch() minhash.Sketch {
	total := 0.0
	for _, w := range s.weights {
		total += w
	}
	for limit := samplePoints * float64(s.size) / total; ; limit *= 2 {
		s.sample(limit)
		slices.Sort(s.points)
		if s.points = slices.Compact(s.points); len(s.points) >= s.size {
			return s.points[:s.size]
		}
	}
}

// sample sets points to those with distances below limit.
func (s *sampler) sample(limit float64) {
	s.points = s.points[:0]
	for c := range s.nothing {
		s.nothing[c] = math.Exp(-cellWidths[c] * limit)
	}
	for i, h := range s.hashes {
		low, w := 0.0, s.weights[i]
		for c := 0; c < sampleCells && low < w; c++ {
			width, at, state := cellWidths[c], 0.0, token.Mix(h+uint64(c)*golden)
			for {
				u := unit(&state)
				if at == 0 && u < s.nothing[c] {
					break
				}
				if at -= math.Log(u) / width; at >= limit {
					break
				}
				if low+unit(&state)*width < w {
					s.points = append(s.points, math.Float32bits(float32(at)))
				}
			}
			low += width
		}
	}
}

// unit returns the next random number in (0, 1] of a generator, SplitMix64.
func unit(state *uint64) float64 {
	*state += golden
	return float64(token.Mix(*state)>>11+1) / (1 << 53)
}
