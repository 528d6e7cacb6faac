package imagehash

import "image"

// smoothed returns the colours of a lossy WebP picture as libwebp computes them (upsampling.c,
// yuv.h): each of its chroma values is shared by 2 x 2 pixels, and a pixel gets the mean of the four
// nearest ones with the weights 9, 3, 3 and 1. Alpha may be nil.
func smoothed(img *image.YCbCr, alpha []uint8, stride int) image.Image {
	b := img.Rect
	out := image.NewNRGBA(b)
	w, h := b.Dx(), b.Dy()
	chroma := func(plane []uint8, near, far []int32, y int) { // three parts near and one far, in both directions
		n, other := y/2, min(max(y/2+y%2*2-1, 0), (h+1)/2-1)
		for x := range near {
			near[x] = 3*int32(plane[n*img.CStride+x]) + int32(plane[other*img.CStride+x])
		}
		for x := range far {
			far[x] = (3*near[x/2] + near[min(max(x/2+x%2*2-1, 0), len(near)-1)] + 8) >> 4
		}
	}
	half, cb, cr := make([]int32, (w+1)/2), make([]int32, w), make([]int32, w)
	for y := range h {
		chroma(img.Cb, half, cb, y)
		chroma(img.Cr, half, cr, y)
		row := out.Pix[y*out.Stride:][:4*w]
		for x, l := range img.Y[y*img.YStride:][:w] {
			light, u, v := int32(l)*19077>>8, cb[x], cr[x]
			p := row[4*x : 4*x+4]
			p[0] = clipped(light + v*26149>>8 - 14234)
			p[1] = clipped(light - u*6419>>8 - v*13320>>8 + 8708)
			p[2] = clipped(light + u*33050>>8 - 17685)
			if p[3] = 255; alpha != nil {
				p[3] = alpha[y*stride+x]
			}
		}
	}
	return out
}

// clipped returns the integer part of a value with 6 fractional bits, from 0 to 255.
func clipped(v int32) uint8 { return uint8(min(max(v>>6, 0), 255)) }
