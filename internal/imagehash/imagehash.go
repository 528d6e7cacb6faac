package imagehash

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"strings"

	"github.com/zeebo/xxh3"
)

// A Kind is an algorithm that computes a hash.
type Kind uint8

const (
	// PDQ has 256 bits. The picture is shrunk to 64 x 64, and each bit says whether one of the 16 x
	// 16 lowest frequencies is above their median. Pictures at a distance of at most 31 count as
	// the same; according to its description, random pictures have a distance of about 128. See
	// https://github.com/facebook/ThreatExchange.
	PDQ Kind = iota
	// DHash has 64 bits. The picture is shrunk to 9 x 8, and each bit says whether brightness
	// increases to the right. See
	// https://www.hackerfactor.com/blog/index.php?/archives/529-Kind-of-Like-That.html.
	DHash
	// PHash has 64 bits. The picture is shrunk to 32 x 32, and each bit says whether one of the 8 x
	// 8 lowest frequencies is above their median. See
	// https://www.hackerfactor.com/blog/index.php?/archives/432-Looks-Like-It.html.
	PHash
	// DHash256 has 256 bits. It is DHash with a picture of 17 x 16.
	DHash256
)

// kinds has the name, the width in bits and the algorithm of each Kind.
var kinds = [...]struct {
	name  string
	bits  int
	near  int
	small int // rows of the small picture of DHash and DHash256; it has one column more
}{
	PDQ:      {"pdq", 256, 31, 0},
	DHash:    {"dhash", 64, 8, 8},
	PHash:    {"phash", 64, 8, 0},
	DHash256: {"dhash256", 256, 31, 16},
}

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{PDQ, DHash, PHash, DHash256} }

// ParseKind returns the kind with this name, ignoring case.
func ParseKind(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if strings.EqualFold(name, k.String()) {
			return k, nil
		}
		names = append(names, k.String())
	}
	return 0, fmt.Errorf("unknown hash of pictures %q: want one of %s", name, strings.Join(names, ", "))
}

// UnmarshalText parses the name of a kind.
func (k *Kind) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKind(string(text))
	return err
}

// String returns the name.
func (k Kind) String() string { return kinds[k].name }

// Near returns the default distance up to which pictures count as the same.
func (k Kind) Near() int { return kinds[k].near }

// Bits returns the number of bits of a hash.
func (k Kind) Bits() int { return kinds[k].bits }

// DefaultMemory is the memory limit for a picture, in bytes, if Options.Memory is 0. It suffices
// for 67 million pixels.
const DefaultMemory = 5 << 28

// Options are the options of Hash in addition to the kind.
type Options struct {
	// Orientations returns the hashes of the picture in all eight orientations, see
	// [Result.Hashes].
	Orientations bool
	// Memory is the number of bytes that may be used for a picture; 0 means DefaultMemory. The
	// picture's file may use a quarter of it, and pixels need at most 20 bytes each, or 28 in a
	// CMYK JPEG file.
	Memory int64
	// Name is the name of the file, or "". Its ending says the format of a file whose content does
	// not, such as a camera's raw file.
	Name string
}

// A Result is the result of Hash.
type Result struct {
	// Hashes has the hash of the picture. With Options.Orientations, it is followed by the hashes
	// of the picture rotated counterclockwise by 90, 180 and 270 degrees, turned upside down,
	// mirrored left to right, transposed, and transposed and rotated by 180 degrees, in the order
	// of Meta's PDQ. Word 0 of a hash is the most significant: the words in hexadecimal are the
	// output of the references.
	Hashes [][]uint64
	// Quality is 0 to 100 for PDQ, and -1 for other kinds. It measures the amount of detail; Meta
	// recommends ignoring pictures with less than 50.
	Quality int
	// Width and Height are the size in pixels, in the orientation that the metadata give.
	Width, Height int
	// Format is jpeg, png, gif, webp, bmp, tiff or ico.
	Format string
	// Refused, if not nil, says why a hash of this kind would be meaningless: the picture is too
	// small or flat. Hashes are then computed from all pixels (see [Sum]).
	Refused *RefusedError
}

// A Reason says why a picture is refused.
type Reason uint8

const (
	// NotPicture is a file that does not begin like a picture of a supported format.
	NotPicture Reason = iota
	// Undecodable is a picture that cannot be decoded: it is damaged or truncated, or it uses an
	// unsupported feature of its format.
	Undecodable
	// TooLarge is a picture that would need more memory than Options.Memory.
	TooLarge
	// TooSmall is a picture with a side of less than 5 pixels, the minimum for PDQ.
	TooSmall
	// Flat is a picture without the differences of brightness that its hash is based on, such as an
	// empty page: all such pictures would have similar hashes. Flat and TooSmall are reported in
	// Result.Refused; the other reasons are errors.
	Flat
)

var reasons = [...]string{"not a picture", "cannot be decoded", "too large", "too small", "flat"}

// String returns the reason in words.
func (r Reason) String() string { return reasons[r] }

// A RefusedError says why a picture has no hash.
type RefusedError struct {
	Reason Reason
	Format string // the format of a picture, if its files are not decoded
	Err    error  // details
}

// Error returns the reason and the details.
func (e *RefusedError) Error() string { return e.Reason.String() + ": " + e.Err.Error() }

// Unwrap returns the details.
func (e *RefusedError) Unwrap() error { return e.Err }

func refused(r Reason, format string, args ...any) error {
	return &RefusedError{Reason: r, Err: fmt.Errorf(format, args...)}
}

// Hash reads a whole picture from r and returns its hash or hashes. If the picture cannot be
// decoded, the error is a [RefusedError]; other errors are those of r. Memory for pixels is
// allocated only after their number has been compared with Options.Memory. Hash may be called
// concurrently; each call needs its own memory.
func Hash(r io.Reader, kind Kind, opt Options) (Result, error) {
	opt.Memory = cmp.Or(opt.Memory, DefaultMemory)
	turns := dihedral[:1]
	if opt.Orientations {
		turns = dihedral[:]
	}
	pic, err := decode(r, opt.Name, opt.Memory)
	if err != nil {
		return Result{}, err
	}
	res := Result{Quality: -1, Format: pic.format, Width: pic.Bounds().Dx(), Height: pic.Bounds().Dy()}
	if pic.turn.transposes() {
		res.Width, res.Height = res.Height, res.Width
	}
	switch kind {
	case PDQ:
		res.Hashes, res.Quality, err = pdq(lumaOf(pic, linear), turns)
	case PHash:
		res.Hashes, err = phash(lumaOf(pic, rounded), turns)
	default:
		res.Hashes, err = dhash(lumaOf(pic, rounded), kinds[kind].small, turns)
	}
	if errors.As(err, &res.Refused) {
		err = nil
		for _, t := range turns {
			h := xxh3.New()
			pic.write(h, t)
			res.Hashes = append(res.Hashes, kind.sum(h))
		}
	}
	return res, err
}

// Sum returns a substitute for the hash of a file that cannot be decoded, which it reads from r.
// Like the hash of a picture that is too small or flat, it is as far from other hashes as random
// bits, and equal only for equal content.
func Sum(r io.Reader, kind Kind) ([]uint64, error) {
	h := xxh3.New()
	_, err := io.Copy(h, r)
	return kind.sum(h), err
}

// sum returns as many words as a hash has, computed from the data written to h.
func (k Kind) sum(h *xxh3.Hasher) (words []uint64) {
	all := h.Sum128().Bytes()
	for seed := range k.Bits() / 64 {
		words = append(words, xxh3.HashSeed(all[:], uint64(seed)))
	}
	return words
}

// write writes the size and the pixels of a picture, with a turn applied, to h. Pixels are written
// as they look on any background, so equal pictures yield equal data in any format and encoding.
func (p picture) write(h *xxh3.Hasher, t turn) {
	pixel := func(x, y int) color.RGBA64 { // for images with more bits per pixel than the file
		return color.RGBA64Model.Convert(color.NRGBAModel.Convert(p.At(x, y))).(color.RGBA64)
	}
	switch img := p.Image.(type) {
	case *image.YCbCr, *image.NYCbCrA, *image.CMYK:
	case image.RGBA64Image:
		pixel = img.RGBA64At
	}
	b := p.Bounds()
	v := viewOf(b.Dx(), b.Dy()).turned(p.turn).turned(t)
	row := binary.LittleEndian.AppendUint64(nil, uint64(v.w)<<32|uint64(v.h))
	for y := range v.h {
		for x := range v.w {
			at := v.at + y*v.down + x*v.right
			c := pixel(b.Min.X+at%b.Dx(), b.Min.Y+at/b.Dx())
			row = binary.LittleEndian.AppendUint64(row, uint64(c.R)<<48|uint64(c.G)<<32|uint64(c.B)<<16|uint64(c.A))
		}
		h.Write(row)
		row = row[:0]
	}
}

// pack packs n bits into words. The first bit is the most significant one of word 0.
func pack(n int, bit func(i int) bool) []uint64 {
	words := make([]uint64, n/64)
	for i := range n {
		if bit(i) {
			words[i/64] |= 1 << (63 - i%64)
		}
	}
	return words
}
