package imagehash

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

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

// flipped returns a picture upside down.
func flipped(p *image.RGBA) *image.RGBA {
	w, h := p.Rect.Dx(), p.Rect.Dy()
	return paint(w, h, func(x, y int) color.RGBA { return p.RGBAAt(x, h-1-y) })
}

// orientations returns a picture in the eight orientations of Result.Hashes.
func orientations(p *image.RGBA) []*image.RGBA {
	r90 := rotated(p)
	r180 := rotated(r90)
	r270 := rotated(r180)
	// Mirrored left to right is rotated by 180 degrees and flipped; transposed is rotated by 90
	// degrees counterclockwise and flipped.
	return []*image.RGBA{p, r90, r180, r270, flipped(p), flipped(r180), flipped(r90), flipped(r270)}
}

// The hash of a turned picture is that of the picture for the orientation.
func TestOrientations(t *testing.T) {
	for _, test := range []struct {
		w, h int
		// The most bits that hashes of PDQ differ by. Where 64 parts of the picture have an odd
		// number of pixels its filter and the pixels that it takes are symmetric, so that sums
		// differ only in how they are rounded; elsewhere they are half a pixel off.
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

// The size is that of the upright picture, and metadata before those that count is skipped.
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
	} {
		res, err := Hash(bytes.NewReader(test.file), DHash, Options{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if wide := res.Width == 90 && res.Height == 60; wide != test.wide || res.Width*res.Height != 5400 {
			t.Errorf("%s: %d x %d", test.name, res.Width, res.Height)
		}
	}
}

// Of 16 bits of grey the upper eight count, whatever the others are.
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
	rgb, got := make([]uint8, 3*256), make([]float32, 256)
	for r := range 256 {
		for g := range 256 {
			for b := range 256 {
				rgb[3*b], rgb[3*b+1], rgb[3*b+2] = uint8(r), uint8(g), uint8(b)
			}
			linear(got, rgb)
			for b, v := range got {
				sum := float64(float64(r)*0.299) + float64(float64(g)*0.587)
				if want := float32(sum + float64(float64(b)*0.114)); v != want {
					t.Fatalf("%d, %d, %d: %v, want %v", r, g, b, v, want)
				}
			}
		}
	}
}

// reasonOf returns why a picture is refused, and fails where it is not.
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
			_, err := Hash(bytes.NewReader(test.file), kind, Options{Orientations: true})
			if got := reasonOf(t, test.name, err); got != test.reason || !strings.HasPrefix(err.Error(), got.String()+": ") {
				t.Errorf("%s, %v: %v", test.name, kind, err)
			}
		}
	}
	for _, kind := range []Kind{PDQ, PHash} {
		if _, err := Hash(bytes.NewReader(columns), kind, Options{}); err != nil {
			t.Errorf("rows of one brightness, %v: %v", kind, err)
		}
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

// bombs returns small files that say that they are large pictures.
func bombs(t testing.TB) map[string][]byte {
	files := pictures(t)
	patched := func(name string, order binary.ByteOrder, size uint16, at ...int) []byte {
		file := slices.Clone(files[name])
		for _, i := range at {
			order.PutUint16(file[i:], size)
		}
		return file
	}
	const large = 16000 // the decoders refuse more on 32 bits
	png := patched("bit.png", binary.BigEndian, large, 18, 22)
	binary.BigEndian.PutUint32(png[29:], crc32.ChecksumIEEE(png[12:29]))
	// The start of a frame of JPEG: marker, length, precision, height, width.
	jpg := bytes.Index(files["420.jpg"], []byte{0xff, 0xc0, 0, 17, 8}) + 5
	progressive := bytes.Index(files["444-progressive.jpg"], []byte{0xff, 0xc2, 0, 17, 8}) + 5
	cmyk := bytes.Index(files["cmyk.jpg"], []byte{0xff, 0xc0, 0, 20, 8}) + 5
	lossless, animated := slices.Clone(files["lossless.webp"]), slices.Clone(files["animated.webp"])
	for _, file := range [][]byte{lossless, animated} {
		binary.LittleEndian.PutUint32(file[bytes.Index(file, []byte("VP8L"))+9:], 1<<28-1) // twice 14 bits
	}
	tiff := slices.Clone(files["deflate.tiff"])
	for i := int(binary.LittleEndian.Uint32(tiff[4:])) + 2; ; i += 12 { // the width and the height come first
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

// A file that says that it is a large picture is refused before anything is allocated for it, and
// what is allocated for others is limited.
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
	// The limit counts the file, and pixels.
	file := sample{"", scene(200, 100, 1)}.png(t)
	enough := int64(len(file) + 200*100*20)
	for memory, want := range map[int64]string{
		enough:                  "<nil>",
		enough - 1:              "too large: 200 x 100 pixels, at most 19,999 fit into memory",
		4*int64(len(file)) - 4:  fmt.Sprintf("too large: the file has more than %.1f kB", float64(len(file)-1)/1000),
		4*int64(len(file)) - 20: "too large: the file has more than ",
	} {
		if _, err := Hash(bytes.NewReader(file), PHash, Options{Memory: memory}); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%d bytes: %v, want %s", memory, err, want)
		}
	}
	// A file is not read further than the limit.
	if _, err := Hash(io.MultiReader(bytes.NewReader(file), endless{t, 1 << 22}), PHash, Options{Memory: 1 << 22}); reasonOf(t, "endless", err) != TooLarge {
		t.Errorf("%v", err)
	}
}

// An endless reader fails the test after that many bytes.
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

// What a reader fails with is returned as it is, and is no fault of the picture.
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

// hashed fails the test if a file gives neither hashes nor a reason, or if much is allocated for
// it.
func hashed(t *testing.T, file []byte) {
	const memory = 4 << 20
	var res Result
	var err error
	n := allocated(func() { res, err = Hash(bytes.NewReader(file), PDQ, Options{Orientations: true, Memory: memory}) })
	if err != nil {
		reasonOf(t, "the file", err)
	} else if len(res.Hashes) != 8 || res.Quality < 0 || res.Quality > 100 || res.Width < 5 || res.Height < 5 {
		t.Errorf("%+v", res)
	}
	if n > 6*memory {
		t.Errorf("%d bytes are allocated", n)
	}
}

// Damaged files of all formats give hashes or reasons.
func TestDamage(t *testing.T) {
	files := pictures(t)
	maps.DeleteFunc(files, func(name string, file []byte) bool { return len(file) > 60_000 })
	names := slices.Sorted(maps.Keys(files))
	const mutations = 400
	for i := range exhaustive.Every(t, 20).Of(len(names) * mutations) {
		rnd := rand.New(rand.NewPCG(uint64(i), 4))
		file := slices.Clone(files[names[i/mutations]])
		beginning := min(len(file), 200) // where sizes are
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
