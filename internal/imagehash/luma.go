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

// A turn is one of the eight ways to put down a picture, numbered as the field Orientation of TIFF
// and Exif does: what has to be done to a picture. From 5 on it is transposed; what it mirrors, it
// mirrors before.
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

// turned returns p with t applied.
func (p plane[T]) turned(t turn) plane[T] {
	if t == upright {
		return p
	}
	right, down, at := 1, p.w, 0 // the next pixel of a row, and of a column, of p; and the first one
	if t.mirrorsColumns() {
		at, right = at+p.w-1, -right
	}
	if t.mirrorsRows() {
		at, down = at+(p.h-1)*p.w, -down
	}
	out := newPlane[T](p.w, p.h)
	if t.transposes() {
		out.w, out.h, right, down = p.h, p.w, down, right
	}
	for y := range out.h {
		row := out.row(y)
		for x := range row {
			row[x] = p.pix[at+y*down+x*right]
		}
	}
	return out
}

// linear and rounded compute the brightness of colours, red, green and blue in turn, with the
// weights 0.299, 0.587 and 0.114: linear as PDQ does, rounded as Pillow does.
func linear(dst []float32, rgb []uint8) {
	for i := range dst {
		c := rgb[3*i : 3*i+3]
		// The sum is exact. Its thousandth is not, but no sum's thousandth is so near the middle of
		// two float32 that it is rounded to the wrong one.
		n := 299*int32(c[0]) + 587*int32(c[1]) + 114*int32(c[2])
		dst[i] = float32(float64(n) * 0.001)
	}
}

func rounded(dst []uint8, rgb []uint8) {
	for i := range dst {
		c := rgb[3*i : 3*i+3]
		dst[i] = uint8((19595*uint32(c[0]) + 38470*uint32(c[1]) + 7471*uint32(c[2]) + 1<<15) >> 16)
	}
}

// lumaOf returns the brightness of an upright picture.
func lumaOf[T uint8 | float32](pic picture, brightness func(dst []T, rgb []uint8)) plane[T] {
	size := pic.Bounds().Size()
	out := newPlane[T](size.X, size.Y)
	rgb := make([]uint8, 3*size.X)
	colours := coloursOf(pic.Image)
	for y := range size.Y {
		colours(rgb, y)
		brightness(out.row(y), rgb)
	}
	return out.turned(pic.turn)
}

// coloursOf returns a function that reads the colours of row y, without transparency, in 8 bits.
func coloursOf(img image.Image) func(rgb []uint8, y int) {
	b := img.Bounds()
	direct := func(pix []uint8, stride int) func(rgb []uint8, y int) {
		return func(rgb []uint8, y int) {
			row := pix[y*stride:]
			for x := range b.Dx() {
				copy(rgb[3*x:3*x+3], row[4*x:])
			}
		}
	}
	switch img := img.(type) {
	case *image.YCbCr:
		return func(rgb []uint8, y int) { ycbcr(rgb, img, b.Min.Y+y) }
	case *image.NYCbCrA:
		return func(rgb []uint8, y int) { ycbcr(rgb, &img.YCbCr, b.Min.Y+y) }
	case *image.NRGBA:
		return direct(img.Pix, img.Stride)
	case *image.RGBA:
		if img.Opaque() {
			return direct(img.Pix, img.Stride)
		}
	}
	return func(rgb []uint8, y int) {
		for x := range b.Dx() {
			c := rgb[3*x : 3*x+3]
			c[0], c[1], c[2] = straight(img.At(b.Min.X+x, b.Min.Y+y))
		}
	}
}

// ycbcr reads the colours of row y of a picture with a value for the hue of each pixel, or of 2 or
// 4.
func ycbcr(rgb []uint8, img *image.YCbCr, y int) {
	left, shift := img.Rect.Min.X, 0
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	n, first, hues := len(rgb)/3, left>>shift, img.COffset(left, y)
	luma := img.Y[img.YOffset(left, y):][:n]
	cb, cr := img.Cb[hues:], img.Cr[hues:]
	for x, v := range luma {
		hue, c := (left+x)>>shift-first, rgb[3*x:3*x+3]
		c[0], c[1], c[2] = color.YCbCrToRGB(v, cb[hue], cr[hue])
	}
}

// straight returns red, green and blue of a colour, not multiplied by its transparency.
func straight(c color.Color) (r, g, b uint8) {
	switch c := c.(type) {
	case color.Gray:
		return c.Y, c.Y, c.Y
	case color.NRGBA64: // the model would multiply and divide
		return uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8)
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return n.R, n.G, n.B
}
