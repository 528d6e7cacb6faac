package imagehash

import (
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
	// PDQ has 256 bits: which of the 16 x 16 lowest frequencies of a picture of 64 x 64 are over
	// their median. Pictures at a distance of at most 31 count as the same; its description says
	// that random ones are at about 128. See https://github.com/facebook/ThreatExchange.
	PDQ Kind = iota
	// DHash has 64 bits: where a picture of 9 x 8 becomes brighter to the right. See
	// https://www.hackerfactor.com/blog/index.php?/archives/529-Kind-of-Like-That.html.
	DHash
	// PHash has 64 bits: which of the 8 x 8 lowest frequencies of a picture of 32 x 32 are over
	// their median. See
	// https://www.hackerfactor.com/blog/index.php?/archives/432-Looks-Like-It.html.
	PHash
	// DHash256 has 256 bits: as DHash, of a picture of 17 x 16.
	DHash256
)

// kinds has the names, widths in bits and algorithms by Kind.
var kinds = [...]struct {
	name  string
	bits  int
	near  int
	small int // the small picture of DHash and DHash256 has that many rows, and a column more
}{
	PDQ:      {"pdq", 256, 31, 0},
	DHash:    {"dhash", 64, 8, 8},
	PHash:    {"phash", 64, 8, 0},
	DHash256: {"dhash256", 256, 31, 16},
}

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{PDQ, DHash, PHash, DHash256} }

// ParseKind returns the kind with a name, in letters of either case.
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

// Near returns up to which distance pictures count as the same unless somebody says otherwise.
func (k Kind) Near() int { return kinds[k].near }

// Bits returns how many bits a hash has.
func (k Kind) Bits() int { return kinds[k].bits }

// DefaultMemory is the memory that a picture may take if Options.Memory is 0. It is enough for 67
// million pixels.
const DefaultMemory = 5 << 28

// Options are what is chosen in addition to the kind.
type Options struct {
	// Orientations returns the hashes of the picture in all eight orientations, see
	// [Result.Hashes].
	Orientations bool
	// Memory is how many bytes may be used for a picture, 0 for DefaultMemory: its file, which may
	// have a quarter of them, and at most 20 bytes a pixel, in a JPEG file in CMYK 28.
	Memory int64
}

// A Result is what Hash has computed.
type Result struct {
	// Hashes has the hash of the picture and, if Options.Orientations, those of the picture
	// rotated counterclockwise by 90, 180 and 270 degrees, upside down, mirrored left to right,
	// transposed, and transposed and rotated by 180 degrees, in the order of Meta's PDQ. Of a hash,
	// word 0 is the most significant: the words in hexadecimal are what the references print.
	Hashes [][]uint64
	// Quality is 0 to 100 for PDQ, and -1 for other kinds. It tells how much there is to see; Meta
	// advises to ignore pictures of less than 50.
	Quality int
	// Width and Height are the size in pixels after it was turned as its metadata say.
	Width, Height int
	// Format is jpeg, png, gif, webp, bmp or tiff.
	Format string
	// Refused, if not nil, says why a hash of this kind would mean nothing: the picture is too small
	// or flat. Hashes are then made of all pixels (see [Sum]).
	Refused *RefusedError
}

// A Reason is why a picture is refused.
type Reason uint8

const (
	// NotPicture is a file that does not begin as a picture of a known format does.
	NotPicture Reason = iota
	// Undecodable is a picture that cannot be decoded: it is damaged or cut off, or it uses a part
	// of its format that is not supported.
	Undecodable
	// TooLarge is a picture that would take more memory than Options.Memory.
	TooLarge
	// TooSmall is a picture of which a side has less than 5 pixels, the least that PDQ hashes.
	TooSmall
	// Flat is a picture without the differences of brightness that its hash is made of, such as an
	// empty page: all such pictures would be alike. Result.Refused has this reason and TooSmall; the
	// other ones are errors.
	Flat
)

var reasons = [...]string{"not a picture", "cannot be decoded", "too large", "too small", "flat"}

// String returns the reason in words.
func (r Reason) String() string { return reasons[r] }

// A RefusedError says why there is no hash of a picture.
type RefusedError struct {
	Reason Reason
	Err    error // details
}

// Error returns the reason and the details.
func (e *RefusedError) Error() string { return e.Reason.String() + ": " + e.Err.Error() }

// Unwrap returns the details.
func (e *RefusedError) Unwrap() error { return e.Err }

func refused(r Reason, format string, args ...any) error {
	return &RefusedError{r, fmt.Errorf(format, args...)}
}

// Hash reads all of a picture from r and returns its hash or hashes. A picture that cannot be
// decoded gives a [RefusedError]; other errors are those of r. Memory for pixels is allocated only
// after their number has been compared with Options.Memory. Hash may be called from many
// goroutines, each of which needs the memory.
func Hash(r io.Reader, kind Kind, opt Options) (Result, error) {
	if opt.Memory == 0 {
		opt.Memory = DefaultMemory
	}
	turns := dihedral[:1]
	if opt.Orientations {
		turns = dihedral[:]
	}
	pic, err := decode(r, opt.Memory)
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

// Sum returns what stands for the hash of a file that is read from r and cannot be decoded. As the
// hashes of a picture that is too small or flat, it is as far from others as random bits are, and
// equal only for equal content.
func Sum(r io.Reader, kind Kind) ([]uint64, error) {
	h := xxh3.New()
	_, err := io.Copy(h, r)
	return kind.sum(h), err
}

// sum returns as many words as a hash has, made of what was written to h.
func (k Kind) sum(h *xxh3.Hasher) (words []uint64) {
	all := h.Sum128().Bytes()
	for seed := range k.Bits() / 64 {
		words = append(words, xxh3.HashSeed(all[:], uint64(seed)))
	}
	return words
}

// write writes the size of a picture with a turn applied and its pixels, as they are seen on any
// ground: equal pictures are the same, in whichever format and however they are stored.
func (p picture) write(h *xxh3.Hasher, t turn) {
	pixel := func(x, y int) color.RGBA64 { // of those that have more bits than the file
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

// pack returns n bits as words, the first bit as the highest one of word 0.
func pack(n int, bit func(i int) bool) []uint64 {
	words := make([]uint64, n/64)
	for i := range n {
		if bit(i) {
			words[i/64] |= 1 << (63 - i%64)
		}
	}
	return words
}
