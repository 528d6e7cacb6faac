package format

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/table/internal/fieldidx"
	"github.com/simdb/simdb/internal/table/internal/hamming"
	"github.com/simdb/simdb/internal/table/internal/sketchidx"
	"github.com/simdb/simdb/internal/token"
)

// Params are the parameters with which the fingerprints and sketches of a table were made. They are
// fixed when a database is created and recorded in every table, because fingerprints made with
// different parameters must never be compared. The layout is an exception: each table has its own,
// and a database may leave it open (LayoutBySize).
type Params struct {
	Tokenizer  uint32         // version of the rules that split text into words
	Shingle    uint32         // K: words, or characters, in a shingle
	Hash       uint32         // version of the shingle hash
	Seed       uint64         // seed of the shingle hash
	Sketch     uint32         // N: entries of a MinHash sketch, 0 for none
	MinJaccard float64        // least threshold that the sketch index answers, 0..1
	Layout     hamming.Layout // how permuted tables lead with the fingerprint's blocks
	StoreText  bool           // whether texts and fields are stored
	Words      uint32         // 64-bit words of a fingerprint, 2..MaxWords; 0 for one
	Features   string         // a features.Spec.String; "" for shingles of words
	Sets       bool           // whether the features of texts are indexed, for searches by containment
	Index      string         // the indexed fields, in the form of jsonfield.Canonical

	Program *features.Spec // has the function that Features names, if the program gave it; not stored
}

// Limits of the parameters.
const (
	MaxShingle = 1 << 10       // words in a shingle
	MaxSketch  = 1 << 16       // entries in a sketch
	MaxWords   = base.MaxWords // words in a fingerprint
)

// Validate returns an error for the first parameter that is not valid for a table; LayoutBySize is
// not valid.
func (p Params) Validate() error {
	switch {
	case p.Shingle > MaxShingle:
		return fmt.Errorf("shingle of %d words, more than %d", p.Shingle, MaxShingle)
	case p.Sketch > MaxSketch:
		return fmt.Errorf("sketch of %d entries, more than %d", p.Sketch, MaxSketch)
	case p.Words == 1 || p.Words > MaxWords:
		return fmt.Errorf("fingerprints of %d words: want 0 or 2 to %d", p.Words, MaxWords)
	case !(p.MinJaccard >= 0 && p.MinJaccard <= 1):
		return fmt.Errorf("minimum Jaccard threshold %v is not in 0..1", p.MinJaccard)
	case p.Sets && !p.StoreText:
		return errors.New("an index of containment without texts")
	case p.Index != "" && !p.StoreText:
		return errors.New("an index of fields without stored fields")
	}
	if s, err := p.Spec(); err != nil {
		return fmt.Errorf("parameters of features: %w", err)
	} else if p.Sets && s.Real() {
		return errors.New("an index of containment of features with weights, which it does not have")
	}
	if index, err := jsonfield.Canonical(p.Index); err != nil || index != p.Index {
		return fmt.Errorf("indexed fields: %w", cmp.Or(err, fmt.Errorf("%q is not in canonical form", p.Index)))
	}
	return p.Layout.Validate()
}

// Indexed returns the paths of the indexed fields. The parameters must be valid.
func (p Params) Indexed() [][]string {
	paths, _ := jsonfield.Paths(p.Index)
	return paths
}

// NumIndexed returns the number of indexed fields.
func (p Params) NumIndexed() int { return len(p.Indexed()) }

// NumWords returns the number of words of a fingerprint.
func (p Params) NumWords() int { return max(1, int(p.Words)) }

// Compatible reports whether tables with p and q can be searched and merged together: whether they
// differ at most in the layout, and in whether the program gave the function.
func (p Params) Compatible(q Params) bool {
	q.Layout, q.Program = p.Layout, p.Program
	return p == q
}

// ForTable returns the parameters of a table of n fingerprints in a database with p: p with a
// layout that is valid for a table.
func (p Params) ForTable(n int64) Params {
	if p.Layout == hamming.LayoutBySize {
		p.Layout = hamming.ChooseLayout(n)
	}
	return p
}

// Diff lists the parameters that differ between p and q, as "shingle 3, not 4", p's value first; ""
// if there are none.
func (p Params) Diff(q Params) string {
	var diffs []string
	differ := func(name string, a, b any) {
		if a != b {
			diffs = append(diffs, fmt.Sprintf("%s %v, not %v", name, a, b))
		}
	}
	differ("tokenizer", p.Tokenizer, q.Tokenizer)
	differ("shingle", p.Shingle, q.Shingle)
	differ("hash", p.Hash, q.Hash)
	differ("seed", p.Seed, q.Seed)
	differ("sketch", p.Sketch, q.Sketch)
	differ("min-jaccard", p.MinJaccard, q.MinJaccard)
	differ("bits", 64*p.NumWords(), 64*q.NumWords())
	differ("layout", p.Layout.String(), q.Layout.String())
	differ("store-text", p.StoreText, q.StoreText)
	differ("containment", p.Sets, q.Sets)
	differ("index", cmp.Or(p.Index, "of no fields"), cmp.Or(q.Index, "of no fields"))
	if p.Features != q.Features {
		diffs = append(diffs, fmt.Sprintf("features of %s, not of %s", p.describeFeatures(), q.describeFeatures()))
	}
	return strings.Join(diffs, "; ")
}

// describeFeatures describes features in words.
func (p Params) describeFeatures() string {
	s, err := p.Spec()
	if err != nil {
		return "an unknown kind"
	}
	return cmp.Or(s.Describe(), "words")
}

// String lists the parameters in the format of the layout dump.
func (p Params) String() string {
	s := fmt.Sprintf("tokenizer %d, shingle %d, hash %d, seed %#x, sketch %d, min-jaccard %g, layout %s, store-text %t",
		p.Tokenizer, p.Shingle, p.Hash, p.Seed, p.Sketch, p.MinJaccard, p.Layout, p.StoreText)
	if p.Words > 0 {
		s += fmt.Sprintf(", fingerprints of %d bits", 64*p.Words)
	}
	if p.Features != "" {
		s += ", features of " + p.describeFeatures()
	}
	if p.Sets {
		s += ", containment true"
	}
	if p.Index != "" {
		s += ", index of " + p.Index
	}
	return s
}

const (
	// segmentSections is the maximum number of sections of a segment.
	segmentSections = 4
	// RunSections is the maximum number of sections of runs, and of words.
	RunSections = MaxWords * (hamming.MaxTables + 1)
	// LeastSegments is the number of segments that every table can have.
	LeastSegments = (MaxSections - 2*RunSections - 2*SegmentReserve - FieldSections) / segmentSections
	// FieldSections is the maximum number of sections of indexed fields, with their directories.
	FieldSections = 4 * fieldidx.Lists * jsonfield.MostPaths
)

// MaxDocs returns the maximum number of documents of a table with p: with sketches it is limited by
// the number of segments that a file can have, otherwise by the constant MaxDocs.
func (p Params) MaxDocs() int64 {
	if p.Sketch == 0 {
		return MaxDocs
	}
	return min(MaxDocs, LeastSegments*sketchidx.LeastSegment(p.Sketches()))
}

// ParamsSize is the length in bytes of encoded parameters without their description.
const ParamsSize = 40

// Flags of encoded parameters.
const (
	storeTextFlag = 1
	setsFlag      = 2
	indexFlag     = 4
)

// Codes with which later versions of the program may add encodings of sketches, or kinds of
// features, without another format version.
const (
	WidthAt     = 35 // Words
	EncodingAt  = 36 // of sketches and their bitmaps
	FeaturesAt  = 37 // 0, or Described
	Described   = 1
	DescribedAt = 38 // length of the description in bytes
)

// AppendBinary appends the ParamsSize bytes that encode p without its description. It never returns
// an error:
//
//	+-----------+---------+------+--------+------+------------+--------+------+
//	| tokenizer | shingle | hash | sketch | seed | minJaccard | blocks | lead |
//	|     4     |    4    |  4   |   4    |  8   |  8 (IEEE)  |   1    |  1   |
//	+-----------+---------+------+--------+------+------------+--------+------+
//	| flags | width of fingerprints | encoding of sketches | features | length |
//	|   1   |           1           |           1          |    1     |   2    |
//	+-------+-----------------------+----------------------+----------+--------+
//
// Flag 1 is StoreText, flag 2 is Sets, flag 4 means that there are indexed fields. Other flags are
// zero. The width of fingerprints is Words. The encoding is 0 for sketches in the encoding of package
// minhash, with bitmaps of these sketches; 1 if the bitmaps are odd sketches (Odd). Features is 0 for
// shingles of words, else 1. Length is the length of the description, which is stored elsewhere: at
// the end of the directory of a table, and at the end of the record of a database. The description
// is the text of Features and, with flag 4, a zero byte and the text of Index. A program that does
// not know another code names it when it refuses the table.
func (p Params) AppendBinary(b []byte) ([]byte, error) {
	b = binary.LittleEndian.AppendUint32(b, p.Tokenizer)
	b = binary.LittleEndian.AppendUint32(b, p.Shingle)
	b = binary.LittleEndian.AppendUint32(b, p.Hash)
	b = binary.LittleEndian.AppendUint32(b, p.Sketch)
	b = binary.LittleEndian.AppendUint64(b, p.Seed)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.MinJaccard))
	var flags, featuresCode byte
	if p.StoreText {
		flags = storeTextFlag
	}
	if p.Sets {
		flags |= setsFlag
	}
	if p.Index != "" {
		flags |= indexFlag
	}
	if p.Features != "" {
		featuresCode = Described
	}
	b = append(b, byte(p.Layout.Blocks), byte(p.Layout.Lead), flags, byte(p.Words), p.encoding(), featuresCode)
	return binary.LittleEndian.AppendUint16(b, uint16(len(p.Description()))), nil
}

// Description returns the part of the parameters that is stored after the ParamsSize bytes.
func (p Params) Description() string {
	if p.Index == "" {
		return p.Features
	}
	return p.Features + "\x00" + p.Index
}

// AppendDatabase appends the encoded parameters of a database: the bytes of AppendBinary and the
// description.
func (p Params) AppendDatabase(b []byte) ([]byte, error) {
	b, err := p.AppendBinary(b)
	return append(b, p.Description()...), err
}

// UnmarshalBinary decodes the parameters of a table from b and validates them. b must have
// ParamsSize bytes and the description after them.
func (p *Params) UnmarshalBinary(b []byte) error {
	if err := p.decode(b); err != nil {
		return err
	}
	return p.Validate()
}

// UnmarshalDatabase is UnmarshalBinary for the parameters of a database, which may leave the layout
// to its tables: zero blocks and a zero lead mean LayoutBySize.
func (p *Params) UnmarshalDatabase(b []byte) error {
	if err := p.decode(b); err != nil {
		return err
	}
	return p.ForTable(0).Validate()
}

// descriptionSize returns the length of the description of encoded parameters of at least
// ParamsSize bytes.
func descriptionSize(b []byte) int { return int(binary.LittleEndian.Uint16(b[DescribedAt:])) }

// decode sets p to the parameters encoded in b.
func (p *Params) decode(b []byte) error {
	if len(b) < ParamsSize || len(b) != ParamsSize+descriptionSize(b) {
		return fmt.Errorf("parameters of %d bytes, not %d and their description", len(b), ParamsSize)
	}
	if flags := b[34]; flags&^(storeTextFlag|setsFlag|indexFlag) != 0 {
		return fmt.Errorf("unknown parameter flags %#x", flags)
	}
	spec, index, indexed := strings.Cut(string(b[ParamsSize:]), "\x00")
	switch {
	case indexed != (b[34]&indexFlag != 0) || indexed != (index != ""):
		return fmt.Errorf("a description %q, flags %#x", b[ParamsSize:], b[34])
	case b[WidthAt] == 1 || b[WidthAt] > MaxWords:
		return fmt.Errorf("fingerprints of another width, code %d: %w", b[WidthAt], ErrUnsupported)
	case b[EncodingAt] > 1:
		return fmt.Errorf("sketches in another encoding, code %d: %w", b[EncodingAt], ErrUnsupported)
	case b[FeaturesAt] > Described:
		return fmt.Errorf("features of another kind, code %d: %w", b[FeaturesAt], ErrUnsupported)
	case (b[FeaturesAt] == Described) != (spec != ""):
		return fmt.Errorf("a description of features of %d bytes, code %d", len(spec), b[FeaturesAt])
	}
	*p = Params{
		Tokenizer:  binary.LittleEndian.Uint32(b),
		Shingle:    binary.LittleEndian.Uint32(b[4:]),
		Hash:       binary.LittleEndian.Uint32(b[8:]),
		Sketch:     binary.LittleEndian.Uint32(b[12:]),
		Seed:       binary.LittleEndian.Uint64(b[16:]),
		MinJaccard: math.Float64frombits(binary.LittleEndian.Uint64(b[24:])),
		Layout:     hamming.Layout{Blocks: int(b[32]), Lead: int(b[33])},
		StoreText:  b[34]&storeTextFlag != 0,
		Words:      uint32(b[WidthAt]),
		Features:   spec,
		Index:      index,
		Sets:       b[34]&setsFlag != 0,
		Program:    p.Program,
	}
	if _, err := p.Spec(); errors.Is(err, features.ErrUnknown) {
		return fmt.Errorf("%w: %w", err, ErrUnsupported)
	}
	if p.encoding() != b[EncodingAt] {
		return fmt.Errorf("sketches in another encoding, code %d: %w", b[EncodingAt], ErrUnsupported)
	}
	if p.Tokenizer > token.Version || p.Hash > token.HashVersion {
		return fmt.Errorf("words of tokenizer version %d with hash version %d, later than %d and %d: %w",
			p.Tokenizer, p.Hash, token.Version, token.HashVersion, ErrUnsupported)
	}
	return nil
}

// Spec parses the features.
func (p Params) Spec() (features.Spec, error) {
	s, err := features.Parse(p.Features, int(p.Tokenizer))
	if p.Program != nil && p.Program.Function == s.Function {
		s.Compute = p.Program.Compute
	}
	return s, err
}

// NeedCompute returns an error if features are those of a function that the program has not given.
func (p Params) NeedCompute() error {
	s, err := p.Spec()
	if err != nil || s.Function == "" || s.Compute != nil {
		return err
	}
	return fmt.Errorf("features of the function %s, which the program that opens it must give in %s", s.Function, option.Name("Compute"))
}

// Sketches returns the parameters that affect sketches.
func (p Params) Sketches() sketchidx.Params {
	return sketchidx.Params{Size: p.Sketch, MinJaccard: p.MinJaccard, Odd: p.Odd()}
}

// Odd reports whether the bitmaps of sketches are odd sketches of the sets of features, because
// searches compare texts; otherwise they are bitmaps of the sketches, which decide. Sets with weights
// have no odd sketches. p must be valid.
func (p Params) Odd() bool {
	if p.Sketch == 0 || !p.StoreText || p.Shingle == 0 {
		return false
	}
	s, err := p.Spec()
	return err == nil && !s.Real()
}

func (p Params) encoding() byte {
	if p.Odd() {
		return 1
	}
	return 0
}

// NewSetHasher returns a hasher that makes the feature sets for comparing texts. The parameters
// must be valid.
func (p Params) NewSetHasher() *features.SetHasher {
	spec, err := p.Spec()
	if err != nil {
		panic(err)
	}
	return features.NewSetHasher(spec, int(p.Shingle), p.Seed)
}
