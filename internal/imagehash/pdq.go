package imagehash

import (
	"math"
	"slices"
)

// The sizes of PDQ: the small picture, its frequencies, and the minimum side of a picture.
const (
	pdqSide   = 64
	pdqFreqs  = 16
	pdqMinDim = 5
)

// pdqCosines has the DCT coefficients of the frequencies 1 to 16.
var pdqCosines = func() (m [pdqFreqs][pdqSide]float32) {
	scale := float64(float32(math.Sqrt(2.0 / pdqSide)))
	for i := range m {
		for j := range m[i] {
			m[i][j] = float32(scale * math.Cos(math.Pi/2/pdqSide*float64(i+1)*float64(2*j+1)))
		}
	}
	return m
}()

// pdq returns the PDQ hashes for turns, and the quality. All sums are in float32 and in the order
// of the reference, and products are rounded before they are added, so results are equal on all
// processors.
func pdq(luma plane[float32], turns []turn) (hashes [][]uint64, quality int, err error) {
	if min(luma.w, luma.h) < pdqMinDim {
		return nil, 0, refused(TooSmall, "%d x %d pixels; a hash needs %d x %d", luma.w, luma.h, pdqMinDim, pdqMinDim)
	}
	small := luma.pix
	if luma.w != pdqSide || luma.h != pdqSide {
		small = pdqShrink(luma)
	}
	// With less than one level of brightness, the bits would depend on rounding errors.
	if slices.Max(small)-slices.Min(small) < 1 {
		return nil, 0, refused(Flat, "the picture has uniform brightness")
	}
	freqs := pdqDCT(pdqDCT(plane[float32]{pdqSide, pdqSide, small}))
	for _, t := range turns {
		hashes = append(hashes, pdqBits(freqs, t))
	}
	return hashes, pdqQuality(small), nil
}

// pdqShrink returns a picture of 64 x 64. It applies two passes of a box filter along rows and
// columns, which together approximate a tent filter (Jarosz, Fast Image Convolutions, 2001), and
// then samples one pixel of each block. It overwrites luma.
func pdqShrink(luma plane[float32]) (small []float32) {
	window := func(n int) int { return (n + 2*pdqSide - 1) / (2 * pdqSide) }
	wide, high := window(luma.w), window(luma.h)
	every, columns := centers(luma.w, luma.w), centers(luma.w, pdqSide)
	line := make([]float32, luma.w)
	for y := range luma.h {
		copy(line, luma.row(y))
		boxRow(luma.row(y), line, wide, every)
	}
	// Of the second passes, only values of the small picture are computed.
	narrow := newPlane[float32](pdqSide, luma.h)
	boxColumns(luma, high, centers(luma.h, luma.h), func(y int, means []float32) { boxRow(narrow.row(y), means, wide, columns) })
	boxColumns(narrow, high, centers(luma.h, pdqSide), func(_ int, means []float32) { small = append(small, means...) })
	return small
}

// centers returns the middles when n pixels are divided into this many parts.
func centers(n, parts int) []int {
	at := make([]int, parts)
	for i := range at {
		at[i] = int((float64(i) + 0.5) * float64(n) / float64(parts))
	}
	return at
}

// boxRow writes the means of the values of src around the centers. It moves a window along src:
// half of the window precedes the center, one value less if window is even, and it is cut off at
// the ends of src. Sums are rounded, so the order of additions and subtractions matters.
func boxRow(dst, src []float32, window int, centers []int) {
	after := window / 2
	before := window - 1 - after
	var sum float32
	begin, end := 0, 0
	for i, center := range centers {
		for ; end < min(center+after+1, len(src)); end++ {
			if sum += src[end]; end >= window {
				sum -= src[begin]
				begin++
			}
		}
		for ; begin < center-before; begin++ {
			sum -= src[begin]
		}
		dst[i] = sum / float32(end-begin)
	}
}

// boxColumns is boxRow for all columns at once: emit receives a row of means for each center.
func boxColumns(src plane[float32], window int, centers []int, emit func(i int, means []float32)) {
	after := window / 2
	before := window - 1 - after
	sums, means := make([]float32, src.w), make([]float32, src.w)
	begin, end := 0, 0
	subtract := func() {
		for x, v := range src.row(begin) {
			sums[x] -= v
		}
		begin++
	}
	for i, center := range centers {
		for ; end < min(center+after+1, src.h); end++ {
			for x, v := range src.row(end) {
				sums[x] += v
			}
			if end >= window {
				subtract()
			}
		}
		for begin < center-before {
			subtract()
		}
		for x, sum := range sums {
			means[x] = sum / float32(end-begin)
		}
		emit(i, means)
	}
}

// pdqQuality adds up the differences between neighbours in percent of the brightness range. Each is
// rounded towards zero, so small ones do not count.
func pdqQuality(small []float32) int {
	sum := 0
	add := func(u, v float32) {
		d := int((u - v) * 100 / 255)
		sum += max(d, -d)
	}
	for i, v := range small {
		if i >= pdqSide {
			add(small[i-pdqSide], v)
		}
		if i%pdqSide > 0 {
			add(small[i-1], v)
		}
	}
	return min(sum/90, 100)
}

// pdqDCT returns the DCT of the frequencies 1 to 16 along the columns of src, transposed.
func pdqDCT(src plane[float32]) plane[float32] {
	out := newPlane[float32](src.w, pdqFreqs)
	for i, cosines := range pdqCosines {
		sums := out.row(i)
		for y, c := range cosines {
			for x, v := range src.row(y) {
				sums[x] += float32(c * v)
			}
		}
	}
	return out.turned(transposed)
}

// pdqBits returns the hash of a turned picture. Mirroring changes the sign of odd frequencies,
// which have even indexes; transposing transposes the frequencies.
func pdqBits(freqs plane[float32], t turn) []uint64 {
	turned := newPlane[float32](freqs.w, freqs.h)
	for i, v := range freqs.pix {
		if (t.mirrorsRows() && i/freqs.w%2 == 0) != (t.mirrorsColumns() && i%2 == 0) {
			v = -v
		}
		turned.pix[i] = v
	}
	if t.transposes() {
		turned = turned.turned(transposed)
	}
	n := len(turned.pix)
	median := slices.Sorted(slices.Values(turned.pix))[n/2-1]
	return pack(n, func(i int) bool { return turned.pix[n-1-i] > median })
}
