package imagehash

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"
)

// A sample is a picture generated for tests.
type sample struct {
	name string
	img  image.Image
}

func (s sample) png(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, s.img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// paint returns a picture with the colours of at.
func paint(w, h int, at func(x, y int) color.RGBA) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, at(x, y))
		}
	}
	return img
}

// scene returns a picture similar to a photograph, with smooth colours, shapes with edges, and
// noise. It uses only integers, so that it is equal on every processor.
func scene(w, h int, seed uint64) *image.RGBA {
	rnd := rand.New(rand.NewPCG(seed, 1))
	const grid = 9
	var corners [grid][grid][3]int
	for i := range corners {
		for j := range corners[i] {
			for c := range 3 {
				corners[i][j][c] = rnd.IntN(256)
			}
		}
	}
	type shape struct {
		x, y, w, h int64
		round      bool
		c          [3]int
	}
	shapes := make([]shape, 10)
	for i := range shapes {
		shapes[i] = shape{int64(rnd.IntN(w)), int64(rnd.IntN(h)), int64(1 + rnd.IntN(w/3+1)), int64(1 + rnd.IntN(h/3+1)),
			rnd.IntN(2) == 0, [3]int{rnd.IntN(256), rnd.IntN(256), rnd.IntN(256)}}
	}
	return paint(w, h, func(x, y int) color.RGBA {
		var c [3]int
		// Between the corners of a grid, in steps of 1/256.
		gx, gy := x*(grid-1)*256/w, y*(grid-1)*256/h
		i, j, fx, fy := gy/256, gx/256, gx%256, gy%256
		for k := range c {
			top := corners[i][j][k]*(256-fx) + corners[i][j+1][k]*fx
			bottom := corners[i+1][j][k]*(256-fx) + corners[i+1][j+1][k]*fx
			c[k] = (top*(256-fy) + bottom*fy) >> 16
		}
		for _, s := range shapes {
			dx, dy := int64(x)-s.x, int64(y)-s.y
			inside := dx >= 0 && dx < s.w && dy >= 0 && dy < s.h
			if s.round {
				inside = dx*dx*s.h*s.h+dy*dy*s.w*s.w < s.w*s.w*s.h*s.h
			}
			if inside {
				c = s.c
			}
		}
		noise := rnd.IntN(17) - 8
		for k := range c {
			c[k] = min(max(c[k]+noise, 0), 255)
		}
		return color.RGBA{uint8(c[0]), uint8(c[1]), uint8(c[2]), 255}
	})
}

// page returns a picture similar to printed text.
func page(w, h int, seed uint64) *image.RGBA {
	rnd := rand.New(rand.NewPCG(seed, 2))
	img := paint(w, h, func(int, int) color.RGBA { return color.RGBA{250, 250, 245, 255} })
	for y := 8; y+10 < h; y += 14 {
		for x := 10; x < w-10; {
			for word := 2 + rnd.IntN(8); word > 0 && x < w-16; word-- {
				for range 14 {
					img.SetRGBA(x+rnd.IntN(5), y+rnd.IntN(9), color.RGBA{20, 20, 30, 255})
				}
				x += 6
			}
			x += 5
		}
	}
	return img
}

// samples returns pictures of many sizes, kinds and colour models.
func samples() (all []sample) {
	add := func(img image.Image, format string, args ...any) {
		all = append(all, sample{fmt.Sprintf(format, args...) + ".png", img})
	}
	sizes := [][2]int{
		{5, 5}, {8, 8}, {9, 8}, {7, 300}, {300, 6}, {17, 16}, {32, 32}, {64, 64}, {63, 65}, {128, 128}, {127, 130},
		{129, 64}, {200, 150}, {320, 320}, {333, 517}, {512, 512}, {640, 480}, {1000, 77},
	}
	for i, s := range sizes {
		add(scene(s[0], s[1], uint64(i)), "scene-%dx%d", s[0], s[1])
	}
	add(page(400, 560, 1), "page-400x560")
	add(page(250, 90, 2), "page-250x90")
	grey := func(v int) color.RGBA { return color.RGBA{uint8(v), uint8(v), uint8(v), 255} }
	add(paint(210, 140, func(x, y int) color.RGBA { return grey(x*200/210 + y*50/140) }), "gradient")
	add(paint(300, 200, func(x, y int) color.RGBA { return color.RGBA{uint8(x * y), uint8(x ^ y), uint8(x*x + 3*y), 255} }), "arithmetic")
	base := scene(180, 120, 99)
	at := func(x, y int) color.RGBA { return base.RGBAAt(x, y) }
	one, alpha, deep := image.NewGray(base.Rect), image.NewNRGBA(base.Rect), image.NewRGBA64(base.Rect)
	deepAlpha := image.NewNRGBA64(base.Rect)
	var palette, translucent color.Palette
	for i := range 40 {
		c := at(i*4, i*3)
		palette = append(palette, c)
		translucent = append(translucent, color.NRGBA{c.R, c.G, c.B, uint8(i * 6)})
	}
	mapped, mappedAlpha := image.NewPaletted(base.Rect, palette), image.NewPaletted(base.Rect, translucent)
	for y := range 120 {
		for x := range 180 {
			c := at(x, y)
			wide := func(v uint8) uint16 { return uint16(v)<<8 | uint16(x*y)&255 }
			one.SetGray(x, y, color.Gray{c.G})
			alpha.SetNRGBA(x, y, color.NRGBA{c.R, c.G, c.B, uint8(x + y)})
			deep.SetRGBA64(x, y, color.RGBA64{wide(c.R), wide(c.G), wide(c.B), 0xffff})
			deepAlpha.SetNRGBA64(x, y, color.NRGBA64{wide(c.R), wide(c.G), wide(c.B), uint16(x * 300)})
			mapped.Set(x, y, c)
			mappedAlpha.SetColorIndex(x, y, mapped.ColorIndexAt(x, y))
		}
	}
	add(one, "grey")
	add(alpha, "alpha")
	add(deep, "deep")
	add(deepAlpha, "deep-alpha")
	add(mapped, "palette")
	add(mappedAlpha, "palette-alpha")
	return all
}

// smallFrame returns a GIF file whose first frame covers a part of the picture. If five is not nil,
// it is colour 5 of the palette.
func smallFrame(t testing.TB, five color.Color) []byte {
	t.Helper()
	base := scene(140, 100, 7)
	var palette color.Palette
	for i := range 32 {
		palette = append(palette, base.RGBAAt(i*4, i*3))
	}
	global := slices.Clone(palette)
	if five != nil {
		palette[5] = five
	}
	frame := image.NewPaletted(image.Rect(20, 10, 120, 90), palette)
	for y := 10; y < 90; y++ {
		for x := 20; x < 120; x++ {
			frame.SetColorIndex(x, y, uint8(global.Index(base.At(x, y))))
		}
	}
	var out bytes.Buffer
	if err := gif.EncodeAll(&out, &gif.GIF{
		Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1},
		Config: image.Config{ColorModel: global, Width: 140, Height: 100},
	}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
