package imagehash

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/simdb/simdb/internal/quantity"
)

// A format is a file format of pictures.
type format struct {
	name       string
	magic      []string // first bytes of the file; a question mark matches any byte
	extensions []string
	config     func(io.Reader) (image.Config, error)
	decode     func(io.Reader) (image.Image, error)
	exif       func(data []byte) []byte // returns the Exif metadata, which are a TIFF file
}

var formats = []format{
	{"jpeg", []string{"\xff\xd8\xff"}, []string{".jpg", ".jpeg", ".jpe", ".jfif"}, jpeg.DecodeConfig, jpeg.Decode, jpegExif},
	{"png", []string{"\x89PNG\r\n\x1a\n"}, []string{".png", ".apng"}, png.DecodeConfig, png.Decode, pngExif},
	{"gif", []string{"GIF87a", "GIF89a"}, []string{".gif"}, gif.DecodeConfig, gif.Decode, nil},
	{"webp", []string{"RIFF????WEBPVP8"}, []string{".webp"}, webp.DecodeConfig, webp.Decode, webpExif},
	{"bmp", []string{"BM????\x00\x00\x00\x00"}, []string{".bmp", ".dib"}, bmp.DecodeConfig, bmp.Decode, nil},
	{"tiff", []string{"II*\x00", "MM\x00*"}, []string{".tif", ".tiff"}, tiff.DecodeConfig, tiff.Decode,
		func(data []byte) []byte { return data }},
}

// HasExtension reports whether a file's name has the ending of a picture that Hash can read.
func HasExtension(name string) bool {
	extension := strings.ToLower(filepath.Ext(name))
	return slices.ContainsFunc(formats, func(f format) bool { return slices.Contains(f.extensions, extension) })
}

// formatOf returns the index of a file's format in formats, or -1.
func formatOf(data []byte) int {
	matches := func(magic string) bool {
		for i := range len(magic) {
			if i == len(data) || magic[i] != '?' && magic[i] != data[i] {
				return false
			}
		}
		return true
	}
	return slices.IndexFunc(formats, func(f format) bool { return slices.ContainsFunc(f.magic, matches) })
}

// A picture is a decoded file.
type picture struct {
	image.Image
	format string
	turn   turn // turns the picture upright
}

// decode reads a picture, and uses at most this many bytes of memory.
func decode(r io.Reader, memory int64) (pic picture, err error) {
	most := memory / 4 // the buffer grows by copying, so it needs a multiple of the file's size
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return pic, err
	}
	if int64(len(data)) > most {
		return pic, refused(TooLarge, "the file has more than %s", quantity.Bytes(most))
	}
	number := formatOf(data)
	if number < 0 {
		return pic, refused(NotPicture, "not a JPEG, PNG, GIF, WebP, BMP or TIFF file")
	}
	defer func() {
		// The decoders are not part of simdb, and files may be hostile.
		if p := recover(); p != nil {
			err = refused(Undecodable, "the decoder failed: %v", p)
		}
	}()
	f := formats[number]
	pic = picture{format: f.name, turn: upright}
	if f.exif != nil {
		pic.turn = orientation(f.exif(data))
	}
	if f.name == "webp" {
		data = firstFrame(data)
	}
	cfg, err := f.config(bytes.NewReader(data))
	if err != nil {
		return pic, refused(Undecodable, "%w", err)
	}
	if err := checkSize(cfg, memory-int64(len(data))); err != nil {
		return pic, err
	}
	if pic.Image, err = f.decode(bytes.NewReader(data)); err != nil {
		return pic, refused(Undecodable, "%w", err)
	}
	switch img := pic.Image.(type) {
	case *image.Paletted:
		if f.name == "gif" {
			pic.Image = canvas(img, cfg)
		}
	case *image.NRGBA:
		if f.name == "webp" && unusedAlpha(data) || f.name == "bmp" && allClear(img) {
			for i := 3; i < len(img.Pix); i += 4 {
				img.Pix[i] = 255
			}
		}
	case *image.Gray:
		if f.name == "tiff" {
			correctFax(img, data)
		}
	}
	return pic, nil
}

// checkSize refuses a picture that would need too much memory. A progressive JPEG file needs the
// most: 12 bytes per pixel for coefficients and 3 for colours; in CMYK 16, 3, and 5 more to combine
// them. The next is a TIFF file with 16-bit colours in one strip, with 16 bytes. The brightness
// needs 4 more.
func checkSize(cfg image.Config, memory int64) error {
	bytesPerPixel := int64(20)
	if cfg.ColorModel == color.CMYKModel {
		bytesPerPixel = 28
	}
	w, h, most := int64(cfg.Width), int64(cfg.Height), memory/bytesPerPixel
	switch {
	case w <= 0 || h <= 0:
		return refused(Undecodable, "the size is %d x %d", w, h)
	case w > most/h:
		return refused(TooLarge, "%s x %s pixels; at most %s fit into memory",
			quantity.Number(w), quantity.Number(h), quantity.Number(most))
	}
	return nil
}

// firstFrame returns the first frame of an animated WebP file as a file without animation. A frame
// consists of its position, its size less one, its duration and flags, and its chunks.
func firstFrame(data []byte) []byte {
	const frameHeader, alpha = 16, 1 << 4
	frame := chunk(data[12:], "ANMF", binary.LittleEndian)
	if len(frame) < frameHeader {
		return data
	}
	out := []byte("RIFF\x00\x00\x00\x00WEBP")
	add := func(kind string, content []byte) {
		out = append(binary.LittleEndian.AppendUint32(append(out, kind...), uint32(len(content))), content...)
		out = append(out, 0)[:len(out)+len(content)%2]
	}
	size, chunks := frame[6:12], frame[frameHeader:]
	still := chunk(chunks, "VP8 ", binary.LittleEndian)
	if mask := chunk(chunks, "ALPH", binary.LittleEndian); mask != nil && still != nil {
		add("VP8X", append([]byte{alpha, 0, 0, 0}, size...))
		add("ALPH", mask)
	}
	if still != nil {
		add("VP8 ", still)
	} else if still = chunk(chunks, "VP8L", binary.LittleEndian); still != nil {
		add("VP8L", still)
	} else {
		return data
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

// unusedAlpha reports whether the header of a lossless WebP file says that its alpha is unused: RFC
// 9649, 3.4. This bit follows a signature byte and two 14-bit sizes.
func unusedAlpha(data []byte) bool {
	const at, used = 4, 1 << 4
	head := chunk(data[12:], "VP8L", binary.LittleEndian)
	return len(head) > at && head[at]&used == 0
}

// allClear reports whether a picture is completely transparent. A BMP file may be so if the program
// that wrote it did not use alpha.
func allClear(img *image.NRGBA) bool {
	for i := 3; i < len(img.Pix); i += 4 {
		if img.Pix[i] != 0 {
			return false
		}
	}
	return true
}

// canvas returns the first frame of a GIF file, drawn into a picture of the full size.
func canvas(frame *image.Paletted, cfg image.Config) image.Image {
	ground := slices.Index(frame.Palette, color.Color(color.RGBA{}))
	full := image.Rect(0, 0, cfg.Width, cfg.Height)
	if frame.Rect == full {
		return frame
	}
	out := image.NewPaletted(full, frame.Palette)
	for i := range out.Pix {
		out.Pix[i] = uint8(max(ground, 0))
	}
	for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y; y++ {
		copy(out.Pix[out.PixOffset(frame.Rect.Min.X, y):], frame.Pix[frame.PixOffset(frame.Rect.Min.X, y):][:frame.Rect.Dx()])
	}
	return out
}

// correctFax inverts a TIFF file with fax compression if 0 means black: the decoder of
// golang.org/x/image (v0.48.0) swaps black and white in this case.
func correctFax(img *image.Gray, data []byte) {
	compression := tiffField(data, fieldCompression)
	if (compression == faxGroup3 || compression == faxGroup4) && tiffField(data, fieldPhotometric) == blackIsZero {
		for i := range img.Pix {
			img.Pix[i] = ^img.Pix[i]
		}
	}
}
