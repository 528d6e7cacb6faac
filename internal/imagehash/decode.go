package imagehash

import (
	"bytes"
	"encoding/binary"
	"fmt"
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
	"golang.org/x/image/webp"

	"github.com/simdb/simdb/internal/quantity"
)

// A format is a file format of pictures.
type format struct {
	name       string
	magic      []string // first bytes of the file; a question mark matches any byte
	extensions []string
	config     func(data []byte) (image.Config, error)
	decode     func(data []byte) (image.Image, error)
	exif       func(data []byte) []byte // returns the Exif metadata, which are a TIFF file
	convert    string                   // if decode is nil: a command that converts a file
}

// read returns a function that passes data to f.
func read[T any](f func(io.Reader) (T, error)) func(data []byte) (T, error) {
	return func(data []byte) (T, error) { return f(bytes.NewReader(data)) }
}

var formats = append([]format{
	{name: "jpeg", magic: []string{"\xff\xd8\xff"}, extensions: []string{".jpg", ".jpeg", ".jpe", ".jfif", ".mpo"},
		config: read(jpeg.DecodeConfig), decode: read(jpeg.Decode), exif: jpegExif},
	{name: "png", magic: []string{pngMagic}, extensions: []string{".png", ".apng"}, config: read(png.DecodeConfig), decode: read(png.Decode), exif: pngExif},
	{name: "gif", magic: []string{"GIF87a", "GIF89a"}, extensions: []string{".gif"}, config: read(gif.DecodeConfig), decode: read(gif.Decode)},
	{name: "webp", magic: []string{"RIFF????WEBPVP8"}, extensions: []string{".webp"}, config: read(webp.DecodeConfig), decode: read(webp.Decode), exif: webpExif},
	{name: "bmp", magic: []string{"BM????\x00\x00\x00\x00"}, extensions: []string{".bmp", ".dib"}, config: read(bmp.DecodeConfig), decode: read(bmp.Decode)},
	{name: "tiff", magic: []string{"II*\x00", "MM\x00*"}, extensions: []string{".tif", ".tiff"}, config: tiffConfig, decode: tiffDecode,
		exif: func(data []byte) []byte { return data }},
	{name: "ico", magic: []string{"\x00\x00\x01\x00", "\x00\x00\x02\x00"}, extensions: []string{".ico", ".cur"}, config: icoConfig, decode: icoDecode},
}, foreign...)

// foreign are formats that are not decoded. In a HEIF file, "ftyp" and the brand of the content
// follow the size of the first box.
var foreign = []format{
	{name: "HEIC", magic: []string{"????ftyphei", "????ftyphev"}, extensions: []string{".heic", ".hif"}, convert: "heif-convert IN OUT.png"},
	{name: "AVIF", magic: []string{"????ftypavi"}, extensions: []string{".avif", ".avifs"}, convert: "heif-convert IN OUT.png"},
	{name: "HEIF", magic: []string{"????ftypmif1", "????ftypmsf1"}, extensions: []string{".heif"}, convert: "heif-convert IN OUT.png"},
	{name: "JPEG XL", magic: []string{"\xff\x0a", "\x00\x00\x00\x0cJXL "}, extensions: []string{".jxl"}, convert: "djxl IN OUT.png"},
	{name: "JPEG 2000", magic: []string{"\x00\x00\x00\x0cjP  ", "\xff\x4f\xff\x51"},
		extensions: []string{".jp2", ".j2k", ".jpf", ".jpx", ".j2c"}, convert: "opj_decompress -i IN -o OUT.png"},
	{name: "camera raw", magic: []string{"????ftypcrx", "FUJIFILMCCD-RAW", "IIU\x00", "IIRO", "IIRS", "MMOR", "FOVb"},
		extensions: []string{".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf", ".rw2", ".raf", ".pef", ".srw"}, convert: "dcraw_emu -T IN"},
	{name: "SVG", extensions: []string{".svg", ".svgz"}, convert: "rsvg-convert IN -o OUT.png"},
	{name: "BigTIFF", magic: []string{"II+\x00\x08\x00\x00\x00", "MM\x00+\x00\x08\x00\x00"}, convert: "tiffcp IN OUT.tif"},
	{name: "Photoshop", magic: []string{"8BPS"}, extensions: []string{".psd", ".psb"}, convert: "magick 'IN[0]' OUT.png"},
	{name: "Netpbm", magic: []string{"P1\n", "P2\n", "P3\n", "P4\n", "P5\n", "P6\n", "P7\n"}, extensions: []string{".pbm", ".pgm", ".ppm", ".pnm"}, convert: "magick IN OUT.png"},
	{name: "another picture format", magic: []string{"icns", "qoif", "SIMPLE  =", "gimp xcf", "v/1\x01", "#?RADIANCE", "DDS ", "\x0a\x05\x01\x08"},
		extensions: []string{".icns", ".qoi", ".fits", ".xcf", ".exr", ".hdr", ".dds", ".pcx", ".tga", ".sgi", ".xpm", ".xbm"}, convert: "magick IN OUT.png"},
}

const pngMagic = "\x89PNG\r\n\x1a\n"

// HasExtension reports whether a file's name has the ending of a picture.
func HasExtension(name string) bool { return formatOfName(name) >= 0 }

// formatOfName returns the index in formats of the format that a file's name says, or -1.
func formatOfName(name string) int {
	extension := strings.ToLower(filepath.Ext(name))
	return slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.extensions, extension) })
}

// MagicBytes is how many of the first bytes of a file HasMagic needs.
const MagicBytes = 16

// HasMagic reports whether the first bytes of a file are those of a picture.
func HasMagic(head []byte) bool { return formatOf(head) >= 0 }

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

// decode reads a picture, and uses at most this many bytes of memory. The name decides if the first
// bytes are those of no format, or of a TIFF file, which the files of some cameras are.
func decode(r io.Reader, name string, memory int64) (pic picture, err error) {
	most := memory / 4 // the buffer grows by copying, so it needs a multiple of the file's size
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return pic, err
	}
	if int64(len(data)) > most {
		return pic, refused(TooLarge, "the file has more than %s", quantity.Bytes(most))
	}
	number := formatOf(data)
	if n := formatOfName(name); n >= 0 && formats[n].decode == nil && (number < 0 || formats[number].name == "tiff") {
		number = n
	}
	if number < 0 {
		return pic, refused(NotPicture, "not a JPEG, PNG, GIF, WebP, BMP, TIFF or ICO file")
	}
	if f := formats[number]; f.decode == nil {
		err := fmt.Errorf("%s; this command converts it: %s", f.name, f.convert)
		return pic, &RefusedError{Reason: Undecodable, Format: f.name, Err: err}
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
	cfg, err := f.config(data)
	if err != nil {
		return pic, undecodable(err)
	}
	if err := checkSize(cfg, memory-int64(len(data))); err != nil {
		return pic, err
	}
	if pic.Image, err = f.decode(data); err != nil {
		return pic, undecodable(err)
	}
	switch img := pic.Image.(type) {
	case *image.Paletted:
		if f.name == "gif" {
			pic.Image = canvas(img, cfg)
		}
	case *image.YCbCr:
		if f.name == "webp" {
			pic.Image = smoothed(img, nil, 0)
		}
	case *image.NYCbCrA:
		pic.Image = smoothed(&img.YCbCr, img.A, img.AStride)
	case *image.NRGBA:
		if f.name == "webp" && unusedAlpha(data) || (f.name == "bmp" || f.name == "ico") && allClear(img) {
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

// undecodable returns the error for a picture that a decoder refuses. For a feature that the decoder
// does not support, it names a program that does.
func undecodable(err error) error {
	if strings.Contains(err.Error(), "unsupported") {
		err = fmt.Errorf("%w; this command converts it: magick IN OUT.png", err)
	}
	return refused(Undecodable, "%w", err)
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
