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

// A view is a way to read the values of a plane: rows of w values, h in all, of which the first one
// is at a place, the next in a row right of it by a number of values, and in a column down of it.
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

// linear and rounded compute the brightness of colours, red, green, blue and alpha in turn, of which
// the last does not count, with the weights 0.299, 0.587 and 0.114: linear as PDQ does, rounded as
// Pillow does.
func linear(dst []float32, rgba []uint8) {
	for i := range dst {
		c := rgba[4*i : 4*i+3]
		// The sum is exact. Its thousandth is not, but no sum's thousandth is so near the middle of
		// two float32 that it is rounded to the wrong one.
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

// putOnWhite replaces colours by what is seen of them on white, rounded as by Pillow.
func putOnWhite(rgba []uint8) {
	for ; len(rgba) > 0; rgba = rgba[4:] {
		if a := uint32(rgba[3]); a < 255 {
			for i, v := range rgba[:3] {
				rgba[i] = uint8((uint32(v)*a + 255*(255-a) + 127) / 255)
			}
		}
	}
}

// coloursOf returns a function that reads the colours of row y in 8 bits: red, green and blue, not
// multiplied by the alpha that follows them.
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

// ycbcr reads the colours of row y of a picture with a value for the hue of each pixel, or of 2 or
// 4.
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

// straight returns red, green and blue of a colour, not multiplied by its alpha, and that.
func straight(c color.Color) (r, g, b, a uint8) {
	switch c := c.(type) {
	case color.Gray:
		return c.Y, c.Y, c.Y, 255
	case color.NRGBA64: // the model would multiply and divide
		return uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8), uint8(c.A >> 8)
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return n.R, n.G, n.B, n.A
}
