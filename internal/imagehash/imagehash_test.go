package imagehash

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/simdb/simdb/internal/exhaustive"
)

func TestParseKind(t *testing.T) {
	for _, kind := range Kinds() {
		for _, name := range []string{kind.String(), strings.ToUpper(kind.String())} {
			if k, err := ParseKind(name); err != nil || k != kind {
				t.Errorf("%s: %v, %v", name, k, err)
			}
		}
		res := must(Hash(bytes.NewReader(sample{"", scene(60, 40, 1)}.png(t)), kind, Options{}))
		if len(res.Hashes) != 1 || len(res.Hashes[0])*64 != kind.Bits() {
			t.Errorf("%v: %x", kind, res.Hashes)
		}
		if kind == PDQ && (res.Quality < 0 || res.Quality > 100) || kind != PDQ && res.Quality != -1 {
			t.Errorf("%v: the quality is %d", kind, res.Quality)
		}
	}
	_, err := ParseKind("ahash")
	if want := `unknown hash of pictures "ahash": want one of pdq, dhash, phash, dhash256`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestHasExtension(t *testing.T) {
	for name, want := range map[string]bool{
		"a.jpg": true, "b/c.JPEG": true, "d.png": true, "e.gif": true, "f.webp": true, "g.bmp": true, "h.tif": true, "i.TIFF": true,
		"j.ico": true, "k.HEIC": true, "l.avif": true, "m.dng": true,
		"": false, "jpg": false, "a.txt": false, "a.jpg.gz": false, "a.": false,
	} {
		if got := HasExtension(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// rotated returns a picture rotated counterclockwise by 90 degrees.
func rotated(p *image.RGBA) *image.RGBA {
	w, h := p.Rect.Dx(), p.Rect.Dy()
	return paint(h, w, func(x, y int) color.RGBA { return p.RGBAAt(w-1-y, x) })
}

// flipped returns a picture turned upside down.
func flipped(p *image.RGBA) *image.RGBA {
	w, h := p.Rect.Dx(), p.Rect.Dy()
	return paint(w, h, func(x, y int) color.RGBA { return p.RGBAAt(x, h-1-y) })
}

// orientations returns a picture in the eight orientations of Result.Hashes.
func orientations(p *image.RGBA) []*image.RGBA {
	r90 := rotated(p)
	r180 := rotated(r90)
	r270 := rotated(r180)
	// Mirroring left to right is rotating by 180 degrees and flipping. Transposing is rotating by
	// 90 degrees counterclockwise and flipping.
	return []*image.RGBA{p, r90, r180, r270, flipped(p), flipped(r180), flipped(r90), flipped(r270)}
}

// The hash of a turned picture equals the picture's hash for that orientation.
func TestOrientations(t *testing.T) {
	for _, test := range []struct {
		w, h int
		// most is the largest number of different bits between hashes of PDQ. If 64 parts of the
		// picture have an odd number of pixels, the filter and the sampled pixels are symmetric, so
		// sums differ only by rounding; otherwise they are half a pixel off.
		most int
	}{{320, 320, 2}, {192 * 3, 320, 2}, {64, 64, 2}, {200, 150, 60}, {97, 341, 90}, {256, 256, 60}} {
		pic := scene(test.w, test.h, uint64(test.w))
		var files [][]byte
		for _, p := range orientations(pic) {
			files = append(files, sample{"", p}.png(t))
		}
		for _, kind := range Kinds() {
			most := 0
			if kind == PDQ {
				most = test.most
			}
			all := must(Hash(bytes.NewReader(files[0]), kind, Options{Orientations: true})).Hashes
			if len(all) != len(files) {
				t.Fatalf("%d hashes", len(all))
			}
			for o, file := range files {
				one := must(Hash(bytes.NewReader(file), kind, Options{})).Hashes[0]
				for other, h := range all {
					d := distance(hexadecimal(one), hexadecimal(h))
					if other == o && d > most || other != o && d < kind.Bits()/6 {
						t.Errorf("%v, %d x %d: orientations %d and %d differ by %d bits", kind, test.w, test.h, o, other, d)
					}
				}
			}
		}
	}
}

// The size is the size of the upright picture. Other metadata before the Exif data are skipped.
func TestUpright(t *testing.T) {
	exif := func(order binary.AppendByteOrder, turn uint16) []byte {
		out := []byte("Exif\x00\x00II*\x00")
		if order == binary.BigEndian {
			out = []byte("Exif\x00\x00MM\x00*")
		}
		out = order.AppendUint32(out, 8)
		out = order.AppendUint16(out, 2)
		out = append(order.AppendUint32(order.AppendUint16(order.AppendUint16(out, 256), 4), 1), 1, 2, 3, 4)
		return append(order.AppendUint16(order.AppendUint32(order.AppendUint16(order.AppendUint16(out, 274), 3), 1), turn), 0, 0, 0, 0, 0, 0)
	}
	pic := scene(90, 60, 5)
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, pic, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	segment := func(kind byte, content []byte) []byte {
		return append([]byte{0xff, kind, byte((len(content) + 2) >> 8), byte(len(content) + 2)}, content...)
	}
	with := func(segments ...[]byte) []byte {
		return slices.Concat(plain.Bytes()[:2], slices.Concat(segments...), plain.Bytes()[2:])
	}
	comment, other := segment(0xfe, []byte("Exif\x00\x00")), segment(0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00<x/>"))
	for _, test := range []struct {
		name string
		file []byte
		wide bool
	}{
		{"without", plain.Bytes(), true},
		{"little endian", with(segment(0xe1, exif(binary.LittleEndian, 6))), false},
		{"big endian, after others", with(comment, other, segment(0xe1, exif(binary.BigEndian, 8))), false},
		{"after bytes to fill up", with(comment, []byte{0xff, 0xff}, segment(0xe1, exif(binary.BigEndian, 5))), false},
		{"mirrored", with(segment(0xe1, exif(binary.BigEndian, 2))), true},
		{"0", with(segment(0xe1, exif(binary.BigEndian, 0))), true},
		{"9", with(segment(0xe1, exif(binary.BigEndian, 9))), true},
		{"cut off", with(segment(0xe1, exif(binary.BigEndian, 6)[:30])), true},
		{"empty", with(segment(0xe1, []byte("Exif\x00\x00"))), true},
		{"beyond its segment", with(segment(0xe1, exif(binary.BigEndian, 6)[:14]), segment(0xfe, exif(binary.BigEndian, 6)[18:])), true},
	} {
		res, err := Hash(bytes.NewReader(test.file), DHash, Options{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if wide := res.Width == 90 && res.Height == 60; wide != test.wide || res.Width*res.Height != 5400 {
			t.Errorf("%s: %d x %d", test.name, res.Width, res.Height)
		}
	}
	for _, profile := range []string{"", "ICC", "ICCP"} { // in a chunk before the metadata, with a fill byte
		file := pictures(t)["turn6.webp"]
		chunk := append(binary.LittleEndian.AppendUint32([]byte("ICCP"), uint32(len(profile))), profile...)
		file = slices.Concat(file[:30], append(chunk, 0)[:len(chunk)+len(chunk)%2], file[30:])
		binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
		if res, err := Hash(bytes.NewReader(file), DHash, Options{}); err != nil || res.Width != 140 || res.Height != 96 {
			t.Errorf("WebP with a profile of %d bytes: %d x %d, %v", len(profile), res.Width, res.Height, err)
		}
	}
}

// Of 16-bit grey, only the upper eight bits count.
func TestDeepGrey(t *testing.T) {
	pic := scene(120, 90, 3)
	grey, deep := image.NewGray(pic.Rect), image.NewGray16(pic.Rect)
	for i := range grey.Pix {
		grey.Pix[i] = pic.Pix[4*i]
		deep.Pix[2*i], deep.Pix[2*i+1] = pic.Pix[4*i], uint8(i*i)
	}
	for _, kind := range Kinds() {
		a := must(Hash(bytes.NewReader(sample{"", grey}.png(t)), kind, Options{}))
		b := must(Hash(bytes.NewReader(sample{"", deep}.png(t)), kind, Options{}))
		if !slices.Equal(a.Hashes[0], b.Hashes[0]) {
			t.Errorf("%v: %x and %x", kind, a.Hashes[0], b.Hashes[0])
		}
	}
}

// The brightness of each colour is the sum that pdqhash computes in float64 and rounds to float32.
func TestLinear(t *testing.T) {
	rgba, got := make([]uint8, 4*256), make([]float32, 256)
	for r := range 256 {
		for g := range 256 {
			for b := range 256 {
				rgba[4*b], rgba[4*b+1], rgba[4*b+2] = uint8(r), uint8(g), uint8(b)
			}
			linear(got, rgba)
			for b, v := range got {
				sum := float64(float64(r)*0.299) + float64(float64(g)*0.587)
				if want := float32(sum + float64(float64(b)*0.114)); v != want {
					t.Fatalf("%d, %d, %d: %v, want %v", r, g, b, v, want)
				}
			}
		}
	}
}

// reasonOf returns the reason why a picture is refused, and fails the test if it is not refused.
func reasonOf(t *testing.T, name string, err error) Reason {
	t.Helper()
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("%s is not refused: %v", name, err)
	}
	return refused.Reason
}

func TestRefused(t *testing.T) {
	plain := func(w, h, v int) []byte {
		return sample{"", paint(w, h, func(int, int) color.RGBA { return color.RGBA{uint8(v), uint8(v / 2), 7, 255} })}.png(t)
	}
	columns := sample{"", paint(100, 80, func(_, y int) color.RGBA { return color.RGBA{uint8(3 * y), 0, 0, 255} })}.png(t)
	photo := sample{"", scene(80, 80, 1)}.png(t)
	all := Kinds()
	for _, test := range []struct {
		name   string
		file   []byte
		kinds  []Kind
		reason Reason
	}{
		{"empty file", nil, all, NotPicture},
		{"text", []byte("BM and other text that begins like a picture"), all, NotPicture},
		{"page", []byte("<!doctype html><img src=a.png>"), all, NotPicture},
		{"beginning", photo[:5], all, NotPicture},
		{"header alone", photo[:8], all, Undecodable},
		{"half", photo[:len(photo)/2], all, Undecodable},
		{"black", plain(100, 70, 0), all, Flat},
		{"white", plain(2, 900, 255), []Kind{DHash, PHash, DHash256}, Flat},
		{"red", plain(301, 517, 201), all, Flat},
		{"one pixel", plain(1, 1, 9), []Kind{DHash, PHash, DHash256}, Flat},
		{"rows of one brightness", columns, []Kind{DHash, DHash256}, Flat},
		{"narrow", sample{"", scene(4, 200, 1)}.png(t), []Kind{PDQ}, TooSmall},
		{"low", sample{"", scene(200, 4, 1)}.png(t), []Kind{PDQ}, TooSmall},
	} {
		for _, kind := range test.kinds {
			res, err := Hash(bytes.NewReader(test.file), kind, Options{Orientations: true})
			if wide := test.reason == Flat || test.reason == TooSmall; wide && err == nil && res.Refused != nil && len(res.Hashes) == 8 {
				err = res.Refused
			} else if wide || err == nil || res.Refused != nil {
				t.Errorf("%s, %v: %+v, %v", test.name, kind, res, err)
			}
			if got := reasonOf(t, test.name, err); got != test.reason || !strings.HasPrefix(err.Error(), got.String()+": ") {
				t.Errorf("%s, %v: %v", test.name, kind, err)
			}
		}
	}
	for _, kind := range []Kind{PDQ, PHash} {
		if res, err := Hash(bytes.NewReader(columns), kind, Options{}); err != nil || res.Refused != nil {
			t.Errorf("rows of one brightness, %v: %+v, %v", kind, res, err)
		}
	}
}

// A picture of a format that is not decoded, or with an unsupported feature, is refused with a
// command that converts it.
func TestForeign(t *testing.T) {
	files := pictures(t)
	planes := slices.Clone(files["deflate.tiff"])
	binary.LittleEndian.PutUint16(planes[bytes.Index(planes, []byte("\x1c\x01\x03\x00"))+8:], 2)
	rle := slices.Clone(files["palette.bmp"])
	rle[30] = 1
	for _, test := range []struct{ name, file, format, err string }{
		{"", "\x00\x00\x00\x18ftypheic", "HEIC", "cannot be decoded: HEIC; this command converts it: heif-convert IN OUT.png"},
		{"", "\x00\x00\x00\x1cftypavif", "AVIF", "cannot be decoded: AVIF; this command converts it: heif-convert IN OUT.png"},
		{"a.dng", string(files["deflate.tiff"]), "camera raw", "cannot be decoded: camera raw; this command converts it: dcraw_emu -T IN"},
		{"a.tga", "\x00\x00\x02\x09", "another picture format", "cannot be decoded: another picture format; this command converts it: magick IN OUT.png"},
		{"a.heic", string(files["420.jpg"]), "", "<nil>"}, // the content decides
		{"a.jpg", "", "", "not a picture: not a JPEG, PNG, GIF, WebP, BMP, TIFF or ICO file"},
		{"", string(planes), "", "cannot be decoded: tiff: unsupported order of samples or bits; this command converts it: magick IN OUT.png"},
		{"", string(rle), "", "cannot be decoded: bmp: unsupported BMP image; this command converts it: magick IN OUT.png"},
	} {
		_, err := Hash(strings.NewReader(test.file), PDQ, Options{Name: test.name})
		refused, _ := errors.AsType[*RefusedError](err)
		if fmt.Sprint(err) != test.err || refused != nil && refused.Format != test.format {
			t.Errorf("%s %.12q: %v, not %s", test.name, test.file, err, test.err)
		}
	}
}

// Hostile strips of a TIFF file, and hostile places in an ICO file, are errors.
func TestParts(t *testing.T) {
	files := pictures(t)
	field := func(file []byte, field uint16) int {
		return bytes.Index(file, binary.LittleEndian.AppendUint16(nil, field)) + 8
	}
	for name, change := range map[string]func(tiff, ico []byte) (file []byte){
		"a strip is larger than the rows of a strip": func(tiff, _ []byte) []byte {
			binary.LittleEndian.PutUint32(tiff[field(tiff, 278):], 8)
			return tiff
		},
		"a strip is wider than the picture": func(tiff, _ []byte) []byte {
			binary.LittleEndian.PutUint32(tiff[field(tiff, fieldWidth):], 9)
			return tiff
		},
		"strips are after the end":    func(tiff, _ []byte) []byte { return tiff[:len(tiff)-3000] },
		"the icon is after the end":   func(_, ico []byte) []byte { ico[18+3] = 1; return ico },
		"the icon has no length":      func(_, ico []byte) []byte { clear(ico[14:18]); return ico },
		"the icon's header is longer": func(_, ico []byte) []byte { ico[22] = 108; return ico },
	} {
		tiff, ico := slices.Clone(files["jpeg-strips.tiff"]), slices.Clone(files["palette.ico"])
		if res, err := Hash(bytes.NewReader(change(tiff, ico)), PDQ, Options{}); err == nil || reasonOf(t, name, err) != Undecodable {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

// Pictures without a meaningful hash have equal Hashes if their pixels are equal, in any encoding,
// and different ones otherwise. The same is true of files that cannot be decoded.
func TestPlain(t *testing.T) {
	encoded := func(encode func(w io.Writer) error) []byte {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	solid := func(w, h int, c color.Color) image.Image {
		img := image.NewNRGBA64(image.Rect(0, 0, w, h))
		for i := range w * h {
			img.Set(i%w, i/w, c)
		}
		return img
	}
	pngOf := func(img image.Image) []byte { return sample{"", img}.png(t) }
	white := func(masked ...image.Point) []byte { // with these pixels transparent
		img := image.NewNRGBA(image.Rect(0, 0, 20, 30))
		for i := range img.Pix {
			img.Pix[i] = 255
		}
		for _, p := range masked {
			img.SetNRGBA(p.X, p.Y, color.NRGBA{uint8(7 * p.X), 3, 9, 0}) // an invisible colour
		}
		return pngOf(img)
	}
	red := paint(20, 30, func(int, int) color.RGBA { return color.RGBA{200, 3, 9, 255} })
	redJPEG := encoded(func(w io.Writer) error { return jpeg.Encode(w, red, nil) })
	decoded, err := jpeg.Decode(bytes.NewReader(redJPEG))
	if err != nil {
		t.Fatal(err)
	}
	r, g, b, _ := decoded.At(3, 3).RGBA()
	equal := [][][]byte{
		{
			pngOf(red), pngOf(solid(20, 30, color.RGBA{200, 3, 9, 255})), encoded(func(w io.Writer) error { return bmp.Encode(w, red) }),
			encoded(func(w io.Writer) error {
				return gif.Encode(w, image.NewPaletted(red.Rect, color.Palette{color.RGBA{200, 3, 9, 255}}), nil)
			}), encoded(func(w io.Writer) error { return tiff.Encode(w, red, nil) }),
		},
		{redJPEG, pngOf(solid(20, 30, color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}))},
		{pngOf(solid(30, 20, color.RGBA{200, 3, 9, 255}))},
		{white(), pngOf(solid(20, 30, color.Gray{255}))},
		{white(image.Pt(3, 4))},
		{white(image.Pt(4, 3))},
		{pngOf(solid(20, 30, color.Gray16{255}))}, // its upper 8 bits are black
		{pngOf(solid(20, 30, color.Gray16{254}))},
		{pngOf(solid(20, 30, color.Gray{0}))},
		{pngOf(solid(20, 30, color.NRGBA{200, 3, 9, 0})), pngOf(solid(20, 30, color.NRGBA{}))},
		{pngOf(solid(20, 30, color.NRGBA{200, 3, 9, 128}))},
	}
	for _, kind := range Kinds() {
		seen := map[string]int{}
		for i, files := range equal {
			for j, file := range files {
				res, err := Hash(bytes.NewReader(file), kind, Options{})
				if err != nil || res.Refused == nil {
					t.Fatalf("%v, picture %d, %d: %v", kind, i, j, err)
				}
				h := hexadecimal(res.Hashes[0])
				if same, had := seen[h]; had != (j > 0) || had && same != i {
					t.Errorf("%v: picture %d, %d has %s, as picture %d", kind, i, j, h, same)
				}
				seen[h] = i
			}
		}
		for i, text := range []string{"", "no picture", "no picture "} {
			words, err := Sum(strings.NewReader(text), kind)
			if _, had := seen[hexadecimal(words)]; err != nil || had || len(words) != kind.Bits()/64 {
				t.Errorf("%v: Sum of %q is %x, %v", kind, text, words, err)
			}
			seen[hexadecimal(words)] = -1 - i
		}
		if _, err := Sum(iotest.ErrReader(io.ErrClosedPipe), kind); err != io.ErrClosedPipe {
			t.Error(err)
		}
	}
	// Databases store these hashes, so they must not change.
	res := must(Hash(bytes.NewReader(equal[0][0]), PDQ, Options{}))
	if got, want := hexadecimal(res.Hashes[0]), "485f1bd2c3039dcd56128003b0e4ce664c07b2c0704864a1c54007563d7585b3"; got != want {
		t.Errorf("red: %s, want %s", got, want)
	}
	// The hashes of a turned picture, and of one turned by Exif, equal the picture's hash for that
	// orientation.
	stripes := paint(30, 20, func(_, y int) color.RGBA { return color.RGBA{uint8(9 * y), 0, 0, 255} })
	stripes.SetRGBA(29, 0, color.RGBA{1, 0, 0, 255})
	all := must(Hash(bytes.NewReader(pngOf(stripes)), DHash, Options{Orientations: true}))
	for o, p := range orientations(stripes) {
		one := must(Hash(bytes.NewReader(pngOf(p)), DHash, Options{}))
		if one.Refused != nil && !slices.Equal(one.Hashes[0], all.Hashes[o]) || all.Refused == nil || one.Refused == nil && o%2 == 0 && o < 4 {
			t.Errorf("orientation %d: %x, want %x", o, one.Hashes, all.Hashes[o])
		}
	}
	upside := pngOf(orientations(stripes)[2])
	exif := "eXIfII*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(exif)))
	turned := slices.Concat(upside[:33], binary.BigEndian.AppendUint32(nil, uint32(len(exif)-4)), []byte(exif), sum, upside[33:])
	if res, err := Hash(bytes.NewReader(turned), DHash, Options{}); err != nil || !slices.Equal(res.Hashes[0], all.Hashes[0]) {
		t.Errorf("upside down: %x, %v, want %x", res.Hashes, err, all.Hashes[0])
	}
}

// A lossless WebP picture is opaque if its header says so, regardless of its pixels.
func TestUnusedAlpha(t *testing.T) {
	file := slices.Clone(pictures(t)["animated-alpha.webp"])
	opaque := must(Hash(bytes.NewReader(pictures(t)["lossless.webp"]), PDQ, Options{}))
	for _, differs := range []bool{true, false} {
		if res := must(Hash(bytes.NewReader(file), PDQ, Options{})); slices.Equal(res.Hashes[0], opaque.Hashes[0]) == differs {
			t.Errorf("%x, opaque %x", res.Hashes, opaque.Hashes)
		}
		file[bytes.Index(file, []byte("VP8L"))+12] &^= 1 << 4
	}
}

// A BMP picture whose alpha is 0 everywhere is opaque.
func TestClearBMP(t *testing.T) {
	img := scene(64, 48, 2)
	var plain bytes.Buffer
	if err := bmp.Encode(&plain, img); err != nil {
		t.Fatal(err)
	}
	deep := func(alpha func(i int) byte) []byte { // with a header of 108 bytes, which includes alpha
		const offset, header = 14 + 108, 108
		file := slices.Concat(plain.Bytes()[:54], make([]byte, header-40))
		binary.LittleEndian.PutUint32(file[10:], offset)
		binary.LittleEndian.PutUint32(file[14:], header)
		file[28] = 32
		for i := range 64 * 48 {
			c := img.RGBAAt(i%64, 47-i/64)
			file = append(file, c.B, c.G, c.R, alpha(i))
		}
		return file
	}
	want := must(Hash(bytes.NewReader(plain.Bytes()), PDQ, Options{})).Hashes[0]
	for name, test := range map[string]struct {
		alpha func(i int) byte
		same  bool
	}{
		"0": {func(int) byte { return 0 }, true}, "255": {func(int) byte { return 255 }, true},
		"half": {func(i int) byte { return byte(255 * (i % 64 / 32)) }, false},
	} {
		res, err := Hash(bytes.NewReader(deep(test.alpha)), PDQ, Options{})
		if err != nil || slices.Equal(res.Hashes[0], want) != test.same {
			t.Errorf("alpha of %s: %x, %v, opaque %x", name, res.Hashes, err, want)
		}
	}
}

// A decoder that panics refuses the picture.
func TestPanic(t *testing.T) {
	before := formats
	defer func() { formats = before }()
	formats = append(slices.Clone(formats), format{
		name: "bad", magic: []string{"bad"}, config: func([]byte) (image.Config, error) { return image.Config{Width: 9, Height: 9}, nil },
		decode: func([]byte) (image.Image, error) { panic("index out of range") },
	})
	_, err := Hash(strings.NewReader("bad"), PDQ, Options{})
	if reasonOf(t, "bad", err) != Undecodable || !strings.HasSuffix(err.Error(), "the decoder failed: index out of range") {
		t.Error(err)
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// bombs returns small files that declare large pictures.
func bombs(t testing.TB) map[string][]byte {
	files := pictures(t)
	patched := func(name string, order binary.ByteOrder, size uint16, at ...int) []byte {
		file := slices.Clone(files[name])
		for _, i := range at {
			order.PutUint16(file[i:], size)
		}
		return file
	}
	const large = 16000 // the largest size that the decoders accept on 32 bits
	png := patched("bit.png", binary.BigEndian, large, 18, 22)
	binary.BigEndian.PutUint32(png[29:], crc32.ChecksumIEEE(png[12:29]))
	// The header of a JPEG frame: marker, length, precision, height, width.
	jpg := bytes.Index(files["420.jpg"], []byte{0xff, 0xc0, 0, 17, 8}) + 5
	progressive := bytes.Index(files["444-progressive.jpg"], []byte{0xff, 0xc2, 0, 17, 8}) + 5
	cmyk := bytes.Index(files["cmyk.jpg"], []byte{0xff, 0xc0, 0, 20, 8}) + 5
	lossless, animated := slices.Clone(files["lossless.webp"]), slices.Clone(files["animated.webp"])
	for _, file := range [][]byte{lossless, animated} {
		binary.LittleEndian.PutUint32(file[bytes.Index(file, []byte("VP8L"))+9:], 1<<28-1) // two 14-bit sizes
	}
	tiff := slices.Clone(files["deflate.tiff"])
	for i := int(binary.LittleEndian.Uint32(tiff[4:])) + 2; ; i += 12 { // width and height come first
		if field := binary.LittleEndian.Uint16(tiff[i:]); field > 257 {
			break
		}
		binary.LittleEndian.PutUint16(tiff[i+8:], large)
	}
	return map[string][]byte{
		"bit.png":             png,
		"420.jpg":             patched("420.jpg", binary.BigEndian, 0xffff, jpg, jpg+2),
		"444-progressive.jpg": patched("444-progressive.jpg", binary.BigEndian, 0xffff, progressive, progressive+2),
		"cmyk.jpg":            patched("cmyk.jpg", binary.BigEndian, 0xffff, cmyk, cmyk+2),
		"palette.gif":         patched("palette.gif", binary.LittleEndian, 0xffff, 6, 8),
		"lossy.webp":          patched("lossy.webp", binary.LittleEndian, 0x3fff, 26, 28),
		"lossless.webp":       lossless,
		"animated.webp":       animated,
		"rgb.bmp":             patched("rgb.bmp", binary.LittleEndian, large, 18, 22),
		"deflate.tiff":        tiff,
	}
}

// A file that declares a large picture is refused before memory is allocated for it. Allocations
// for other files are limited.
func TestMemory(t *testing.T) {
	for name, file := range bombs(t) {
		var err error
		n := allocated(func() { _, err = Hash(bytes.NewReader(file), PDQ, Options{Memory: 1 << 30}) })
		if n > 1<<20 {
			t.Errorf("%s: %d bytes", name, n)
		}
		if got := reasonOf(t, name, err); got != TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The limit includes the file and pixels.
	file := sample{"", scene(200, 100, 1)}.png(t)
	enough := int64(len(file) + 200*100*20)
	for memory, want := range map[int64]string{
		enough:                  "<nil>",
		enough - 1:              "too large: 200 x 100 pixels; at most 19,999 fit into memory",
		4*int64(len(file)) - 4:  fmt.Sprintf("too large: the file has more than %.1f kB", float64(len(file)-1)/1000),
		4*int64(len(file)) - 20: "too large: the file has more than ",
	} {
		if _, err := Hash(bytes.NewReader(file), PHash, Options{Memory: memory}); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%d bytes: %v, want %s", memory, err, want)
		}
	}
	// The decoder allocates the assumed bytes per pixel.
	for name, bytesPerPixel := range map[string]int64{"cmyk.jpg": 28, "420.jpg": 20, "alpha.png": 20} {
		file := pictures(t)[name]
		memory := int64(len(file)) + 150*110*bytesPerPixel
		if _, err := Hash(bytes.NewReader(file), PHash, Options{Memory: memory}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Hash(bytes.NewReader(file), PHash, Options{Memory: memory - 1}); reasonOf(t, name, err) != TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A file is not read beyond the limit.
	if _, err := Hash(io.MultiReader(bytes.NewReader(file), endless{t, 1 << 22}), PHash, Options{Memory: 1 << 22}); reasonOf(t, "endless", err) != TooLarge {
		t.Errorf("%v", err)
	}
}

// An endless reader fails the test after this many bytes.
type endless struct {
	t    *testing.T
	most int
}

func (e endless) Read(p []byte) (int, error) {
	if e.most -= len(p); e.most < 0 {
		e.t.Error("the file is read to the end")
		return 0, io.EOF
	}
	return len(p), nil
}

// An error of the reader is returned unchanged, and is not blamed on the picture.
func TestReadError(t *testing.T) {
	file := sample{"", scene(50, 40, 1)}.png(t)
	broken := errors.New("broken")
	for _, n := range []int{0, 3, 100, len(file) - 1} {
		_, err := Hash(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(broken)), PDQ, Options{})
		var refused *RefusedError
		if !errors.Is(err, broken) || errors.As(err, &refused) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if res, err := Hash(iotest.OneByteReader(bytes.NewReader(file)), PDQ, Options{}); err != nil || res.Format != "png" {
		t.Errorf("%v, %v", res, err)
	}
}

// hashed hashes a file. It fails the test if the result is neither hashes nor a reason, or if too
// much memory is allocated.
func hashed(t *testing.T, file []byte) {
	const memory = 4 << 20
	var res Result
	var err error
	n := allocated(func() { res, err = Hash(bytes.NewReader(file), PDQ, Options{Orientations: true, Memory: memory}) })
	if err != nil {
		reasonOf(t, "the file", err)
	} else if small := res.Width < 5 || res.Height < 5; len(res.Hashes) != 8 || res.Quality < 0 || res.Quality > 100 ||
		small != (res.Refused != nil && res.Refused.Reason == TooSmall) {
		t.Errorf("%+v", res)
	}
	if n > 6*memory {
		t.Errorf("%d bytes are allocated", n)
	}
}

// Damaged files of all formats yield hashes or reasons.
func TestDamage(t *testing.T) {
	files := pictures(t)
	maps.DeleteFunc(files, func(name string, file []byte) bool { return len(file) > 60_000 })
	names := slices.Sorted(maps.Keys(files))
	const mutations = 400
	for i := range exhaustive.Every(t, 20).Of(len(names) * mutations) {
		rnd := rand.New(rand.NewPCG(uint64(i), 4))
		file := slices.Clone(files[names[i/mutations]])
		beginning := min(len(file), 200) // has the sizes
		switch rnd.IntN(5) {
		case 0:
			file = file[:rnd.IntN(len(file))]
		case 1:
			file[rnd.IntN(len(file))] ^= 1 << rnd.IntN(8)
		case 2:
			file[rnd.IntN(beginning)] = uint8(rnd.Uint32())
		case 3:
			for range 1 + rnd.IntN(10) {
				file[rnd.IntN(beginning)] = []uint8{0, 1, 0x7f, 0x80, 0xff}[rnd.IntN(5)]
			}
		default:
			at := rnd.IntN(len(file))
			file = slices.Concat(file[:at], file[rnd.IntN(len(file)):])
		}
		hashed(t, file)
	}
}

func FuzzHash(f *testing.F) {
	for _, file := range pictures(f) {
		if len(file) < 20_000 {
			f.Add(file)
		}
	}
	f.Fuzz(hashed)
}
