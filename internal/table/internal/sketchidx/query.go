package sketchidx

import (
	"math"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/minhash"
)

// query is a prepared Query.
type query struct {
	sketch minhash.Sketch
	t      float64
	n      int // N

	isOdd bool                    // Params.Odd: bitmaps are odd sketches
	odd   func() *oddsketch.Query // nil: bitmaps reject nothing if isOdd

	bitmap     minhash.Bitmap // of the sketch
	maxMissing int            // how many bits of the query's bitmap a match may lack
	maxExcess  int            // how many bits a match may have that are not in the query's bitmap
}

// differ returns in how many bits the bitmap of a document differs from that of the query, as far as
// known, and whether it does not reject the document.
func (j *query) differ(b *minhash.Bitmap) (n int, ok bool) {
	if j.isOdd {
		if j.odd == nil {
			return 0, true
		}
		return j.odd().Differ((*oddsketch.Sketch)(b))
	}
	missing, excess := j.bitmap.Missing(b), b.Missing(&j.bitmap)
	return missing + excess, missing <= j.maxMissing && excess <= j.maxExcess
}

// filter appends to dst, ascending, the indices of the bitmaps that do not reject their documents.
func (j *query) filter(dst []uint32, maps []minhash.Bitmap) []uint32 {
	if j.isOdd {
		for i := range maps {
			if _, ok := j.differ(&maps[i]); ok {
				dst = append(dst, uint32(i))
			}
		}
		return dst
	}
	before := len(dst)
	dst = kernel.FilterBitmaps(dst, &j.bitmap, maps, j.maxMissing)
	passed := dst[:before]
	for _, i := range dst[before:] {
		if maps[i].Missing(&j.bitmap) <= j.maxExcess {
			passed = append(passed, i)
		}
	}
	return passed
}

// passing estimates the share of full, unrelated sketches whose bitmaps do not reject them. Each of
// the query's bits is missing from such a bitmap with the same probability; the number of missing
// bits is assumed to be normally distributed, and independent of the number of bits that the query
// lacks, which has the same limit.
func (j *query) passing() float64 {
	if j.isOdd {
		if j.odd == nil {
			return 1
		}
		return j.odd().Passing()
	}
	const size = 8 * bitmapSize
	set := 0
	for _, word := range j.bitmap {
		set += bits.OnesCount64(word)
	}
	missing := math.Pow(1-1.0/size, float64(j.n))
	mean := float64(set) * missing
	deviation := math.Sqrt(mean * (1 - missing))
	one := math.Erfc((mean-float64(j.maxMissing)-0.5)/(deviation*math.Sqrt2)) / 2
	return one * one
}
