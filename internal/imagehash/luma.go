package imagehash

import (
	"image"
	"image/color"
)

// A plane has a value for each pixel, row by row.
type plane[T uint8 | float32] struct {
	w, h int
	pix  []T
}

func newPlane[T uint8 | float32](w, h int) plane[T] { return plane[T]{w, h, make([]T, w*h)} }

func (p plane[T]) row(y int) []T { return p.pix[y*p.w : (y+1)*p.w] }

// A turn is one of the eight orientations of a picture, with the number of the field Orientation in
// TIFF and Exif. It describes the operation to apply to a picture. Turns of 5 and more transpose
// it, after mirroring it.
type turn uint8

const (
	upright    turn = 1
	mirrored   turn = 2
	transposed turn = 5
)

// dihedral has all turns in the order of Result.Hashes.
var dihedral = [8]turn{upright, 8, 3, 6, 4, mirrored, transposed, 7}

func (t turn) transposes() bool     { return t >= transposed }
func (t turn) mirrorsColumns() bool { return t == 2 || t == 3 || t == 7 || t == 8 }
func (t turn) mirrorsRows() bool    { return t == 3 || t == 4 || t == 6 || t == 7 }

// A view describes how to read the values of a plane: h rows of w values. The first value is at
// index at; right and down are the steps to the next value in a row and in a column.
type view struct{ w, h, at, right, down int }

func viewOf(w, h int) view { return view{w, h, 0, 1, w} }

// turned returns v with t applied.
func (v view) turned(t turn) view {
	if t.mirrorsColumns() {
		v.at, v.right = v.at+(v.w-1)*v.right, -v.right
	}
	if t.mirrorsRows() {
		v.at, v.down = v.at+(v.h-1)*v.down, -v.down
	}
	if t.transposes() {
		v.w, v.h, v.right, v.down = v.h, v.w, v.down, v.right
	}
	return v
}

// turned returns p with t applied.
func (p plane[T]) turned(t turn) plane[T] {
	if t == upright {
		return p
	}
	v := viewOf(p.w, p.h).turned(t)
	out := newPlane[T](v.w, v.h)
	for y := range out.h {
		row := out.row(y)
		for x := range row {
			row[x] = p.pix[v.at+y*v.down+x*v.right]
		}
	}
	return out
}

// linear and rounded compute the brightness of colours with the weights 0.299, 0.587 and 0.114:
// linear as PDQ does, rounded as Pillow does. Colours are red, green, blue and alpha; alpha is
// ignored.
func linear(dst []float32, rgba []uint8) {
	for i := range dst {
		c := rgba[4*i : 4*i+3]
		// The sum is exact. Multiplying it by 0.001 is not, but no product is close enough to the
		// middle of two float32 to be rounded to the wrong one.
		n := 299*int32(c[0]) + 587*int32(c[1]) + 114*int32(c[2])
		dst[i] = float32(float64(n) * 0.001)
	}
}

func rounded(dst []uint8, rgba []uint8) {
	for i := range dst {
		c := rgba[4*i : 4*i+3]
		dst[i] = uint8((19595*uint32(c[0]) + 38470*uint32(c[1]) + 7471*uint32(c[2]) + 1<<15) >> 16)
	}
}

// lumaOf returns the brightness of an upright picture on white.
func lumaOf[T uint8 | float32](pic picture, brightness func(dst []T, rgba []uint8)) plane[T] {
	size := pic.Bounds().Size()
	out := newPlane[T](size.X, size.Y)
	rgba := make([]uint8, 4*size.X)
	colours := coloursOf(pic.Image)
	for y := range size.Y {
		colours(rgba, y)
		putOnWhite(rgba)
		brightness(out.row(y), rgba)
	}
	return out.turned(pic.turn)
}

// putOnWhite replaces colours by how they look on white, rounded as in Pillow.
func putOnWhite(rgba []uint8) {
	for ; len(rgba) > 0; rgba = rgba[4:] {
		if a := uint32(rgba[3]); a < 255 {
			for i, v := range rgba[:3] {
				rgba[i] = uint8((uint32(v)*a + 255*(255-a) + 127) / 255)
			}
		}
	}
}

// coloursOf returns a function that reads the colours of row y with 8 bits: red, green and blue,
// not multiplied by alpha, and alpha.
func coloursOf(img image.Image) func(rgba []uint8, y int) {
	b := img.Bounds()
	direct := func(pix []uint8, stride int) func(rgba []uint8, y int) {
		return func(rgba []uint8, y int) { copy(rgba, pix[y*stride:]) }
	}
	switch img := img.(type) {
	case *image.YCbCr:
		return func(rgba []uint8, y int) { ycbcr(rgba, img, b.Min.Y+y) }
	case *image.NYCbCrA:
		return func(rgba []uint8, y int) {
			ycbcr(rgba, &img.YCbCr, b.Min.Y+y)
			for x, a := range img.A[y*img.AStride:][:b.Dx()] {
				rgba[4*x+3] = a
			}
		}
	case *image.NRGBA:
		return direct(img.Pix, img.Stride)
	case *image.RGBA:
		if img.Opaque() {
			return direct(img.Pix, img.Stride)
		}
	}
	return func(rgba []uint8, y int) {
		for x := range b.Dx() {
			c := rgba[4*x : 4*x+4]
			c[0], c[1], c[2], c[3] = straight(img.At(b.Min.X+x, b.Min.Y+y))
		}
	}
}

// ycbcr reads the colours of row y of a picture whose chroma values are shared by 1, 2 or 4 pixels.
func ycbcr(rgba []uint8, img *image.YCbCr, y int) {
	left, shift := img.Rect.Min.X, 0
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	n, first, hues := len(rgba)/4, left>>shift, img.COffset(left, y)
	luma := img.Y[img.YOffset(left, y):][:n]
	cb, cr := img.Cb[hues:], img.Cr[hues:]
	for x, v := range luma {
		hue, c := (left+x)>>shift-first, rgba[4*x:4*x+4]
		c[0], c[1], c[2] = color.YCbCrToRGB(v, cb[hue], cr[hue])
		c[3] = 255
	}
}

// straight returns the red, green and blue of a colour, not multiplied by its alpha, and the alpha.
func straight(c color.Color) (r, g, b, a uint8) {
	switch c := c.(type) {
	case color.Gray:
		return c.Y, c.Y, c.Y, 255
	case color.NRGBA64: // the colour model would multiply and divide by alpha
		return uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8), uint8(c.A >> 8)
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return n.R, n.G, n.B, n.A
}
