package imagehash

import (
	"math"
	"slices"
)

// dhash returns the hashes of DHash with n rows for turns.
func dhash(luma plane[uint8], n int, turns []turn) (hashes [][]uint64, err error) {
	smalls := smallsOf(luma, n+1, n, turns)
	bits := func(p plane[uint8]) []uint64 {
		return pack(n*n, func(i int) bool {
			row := p.row(i / n)
			return row[i%n+1] > row[i%n]
		})
	}
	if slices.Max(bits(smalls[0])) == 0 && slices.Max(bits(smalls[0].turned(mirrored))) == 0 {
		return nil, refused(Flat, "the brightness does not change from left to right")
	}
	for _, p := range smalls {
		hashes = append(hashes, bits(p))
	}
	return hashes, nil
}

// The sizes of PHash: the small picture and its frequencies.
const (
	phashSide  = 32
	phashFreqs = 8
)

// phash returns the hashes of PHash for turns.
func phash(luma plane[uint8], turns []turn) (hashes [][]uint64, err error) {
	smalls := smallsOf(luma, phashSide, phashSide, turns)
	if slices.Max(smalls[0].pix) == slices.Min(smalls[0].pix) {
		return nil, refused(Flat, "the picture has uniform brightness")
	}
	for _, p := range smalls {
		freqs := phashDCT(p)
		sorted := slices.Sorted(slices.Values(freqs))
		median := (sorted[len(sorted)/2-1] + sorted[len(sorted)/2]) / 2
		hashes = append(hashes, pack(len(freqs), func(i int) bool { return freqs[i] > median }))
	}
	return hashes, nil
}

// phashDCT returns the low frequencies of a picture of 32 x 32 row by row. It applies the DCT to
// columns first.
func phashDCT(p plane[uint8]) (freqs []float64) {
	var low [phashFreqs][phashSide]float64
	column := make([]float64, phashSide)
	for x := range phashSide {
		for y := range column {
			column[y] = float64(p.row(y)[x])
		}
		for i, v := range dct(column)[:phashFreqs] {
			low[i][x] = v
		}
	}
	for _, row := range low {
		freqs = append(freqs, dct(row[:])[:phashFreqs]...)
	}
	return freqs
}

// dct returns the DCT of type II. The number of values must be a power of two. It works by halves
// (Lee, A New Algorithm to Compute the Discrete Cosine Transform, 1984): frequencies that are zero
// because values are equal or symmetric become exactly zero, as in the reference.
func dct(v []float64) []float64 {
	n := len(v)
	if n == 1 {
		return []float64{v[0]}
	}
	sums, diffs := make([]float64, n/2), make([]float64, n/2)
	for i := range n / 2 {
		a, b := v[i], v[n-1-i]
		sums[i] = a + b
		diffs[i] = (a - b) / (2 * math.Cos(math.Pi*(float64(i)+0.5)/float64(n)))
	}
	even, odd := dct(sums), dct(diffs)
	out := make([]float64, n)
	for i := range n / 2 {
		out[2*i], out[2*i+1] = even[i], odd[i]
		if i+1 < n/2 {
			out[2*i+1] += odd[i+1]
		}
	}
	return out
}

// smallsOf returns p shrunk to a size, for each turn. It transposes p before shrinking, but mirrors
// the small picture, which gives the same result.
func smallsOf(p plane[uint8], w, h int, turns []turn) (smalls []plane[uint8]) {
	shrunk := map[turn]plane[uint8]{}
	for _, t := range turns {
		before := upright
		if t.transposes() {
			before, t = transposed, t-transposed+upright
		}
		if _, ok := shrunk[before]; !ok {
			shrunk[before] = resize(p.turned(before), w, h)
		}
		smalls = append(smalls, shrunk[before].turned(t))
	}
	return smalls
}

// resize returns p in another size. It applies a Lanczos filter over 3 pixels of the smaller size,
// first along rows and then along columns, like Image.resize of Pillow with 8 bits per pixel.
// Pillow 13 starts with the columns of a tall picture, which changes the rounding between the
// steps.
func resize(p plane[uint8], w, h int) plane[uint8] {
	if p.h > h && p.h-h > 2*(p.w-w) {
		return resizeRows(resizeRows(p.turned(transposed), h), w).turned(transposed)
	}
	return resizeRows(resizeRows(p, w), h)
}

// resizeRows returns p with w pixels per row, transposed.
func resizeRows(p plane[uint8], w int) plane[uint8] {
	if p.w == w {
		return p.turned(transposed)
	}
	out := newPlane[uint8](p.h, w)
	filters := lanczos(p.w, w)
	for y := range p.h {
		row := p.row(y)
		for x, f := range filters {
			sum := int32(1) << (precision - 1)
			for i, v := range row[f.first:][:len(f.weights)] {
				sum += int32(v) * f.weights[i]
			}
			out.pix[x*p.h+y] = uint8(min(max(sum>>precision, 0), 255))
		}
	}
	return out
}

// precision is the number of fractional bits of weights. The other bits of 32 are 8 for a pixel,
// and two for sums that are negative or more than 1.
const precision = 32 - 8 - 2

// A filter has the weights of adjacent pixels, beginning at first.
type filter struct {
	first   int
	weights []int32
}

// lanczos returns the filters for the pixels of a row that is resized from n to w: the sinc
// function times a sinc that is three times as wide, up to the first zero of the latter.
func lanczos(n, w int) []filter {
	const zero = 3
	scale := float64(n) / float64(w)
	stretch := max(scale, 1)
	support := float64(zero * stretch)
	filters := make([]filter, w)
	for x := range filters {
		center := float64((float64(x) + 0.5) * scale)
		first, end := max(int(center-support+0.5), 0), min(int(center+support+0.5), n)
		weights, total := make([]float64, end-first), 0.0
		for i := range weights {
			if at := (float64(first+i) - center + 0.5) / stretch; math.Abs(at) < zero {
				weights[i] = float64(sinc(at) * sinc(at/zero))
			}
			total += weights[i]
		}
		filters[x] = filter{first, make([]int32, len(weights))}
		for i, v := range weights {
			filters[x].weights[i] = int32(math.Round(v / total * (1 << precision)))
		}
	}
	return filters
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}
