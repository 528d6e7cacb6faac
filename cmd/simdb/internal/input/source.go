package input

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/imagehash"
)

// MaxRecord is the largest size of a record in bytes. A larger one is an Issue and is skipped
// without being held in memory.
const MaxRecord = engine.MaxTextBytes

// Source is an open input: documents in the order of the file. It is read once, by one goroutine at
// a time.
type Source interface {
	// Info describes the source. Columns, Bits and Notice are complete once Records has yielded
	// something.
	Info() Info

	// Records yields the records in order. An error that is an *Issue concerns one record, and
	// reading continues; any other error is the last thing that is yielded: a *ReadError, or the
	// cause of the context's end.
	Records(ctx context.Context) iter.Seq2[*Record, error]

	// Progress returns how many bytes of the file have been read, and its size, or -1 if that is
	// not known; both are before decompression. It may be called at any time.
	Progress() (done, size int64)

	// Close closes the file. It does not wait for a read that is under way.
	Close() error
}

// ErrStop is what a function of Each returns to read no further.
var ErrStop = errors.New("stop")

// Each calls record for every record of a source, and issue for what is no record, in order, until
// one of them returns an error. A record about which record returns an *Issue is one. Each returns
// the error, but for ErrStop, or what has ended the reading.
func Each(ctx context.Context, src Source, record func(*Record) error, issue func(*Issue) error) error {
	for rec, err := range src.Records(ctx) {
		if err == nil {
			err = record(rec)
		}
		if is, ok := err.(*Issue); ok {
			err = issue(is)
		}
		if err == ErrStop {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Info describes a source.
type Info struct {
	Name   string // of the file, as in messages
	Format Format

	// Shape says how the records are written, in words for a message: "CSV". Records of two sources
	// may go into one output if their Shape is equal, and their Columns are, but for blanks around
	// them.
	Shape   string
	Columns []byte // the header of a file of columns, as it is written; nil for other files

	// Encoding is that of a text, and ByteOrderMark says whether it begins with one. Copies are
	// encoded so, with the same line ends.
	Encoding      Encoding
	ByteOrderMark bool
	OldLineEnds   bool // lines end in CR, as those of the first Macs; it is LF in Record.Raw, and LF CR

	// Notice says what the content was taken for, where that could surprise. Users should be shown
	// it.
	Notice string

	Bits             int  // of fingerprints, 0 if there are none at the beginning
	Several          bool // documents at the beginning have several
	FingerprintsOnly bool // the records have fingerprints and no texts
	PositionIDs      bool // the IDs are the positions, so two such files have the same IDs
}

// TakenFor says what a file was taken for, where its content and not its name or the options say
// it; "" otherwise.
func (i Info) TakenFor(opt Options) string {
	d := i.Format.Describe()
	name := unpackedName(i.Name)
	switch {
	case i.Notice != "":
		return i.Notice
	case opt.Format != Auto, opt.Delimiter != 0, d.Unit == UnitFile, slices.ContainsFunc(d.Endings, func(ending string) bool { return strings.HasSuffix(name, ending) }):
		return ""
	}
	return i.Shape
}

// unpackedName is a name in lower case without the ending of a compression.
func unpackedName(name string) string {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".gzip", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, packed)
	}
	return name
}

// Position is the place of a record in its source, counted from 1 in the unit of its format
// (Format.Unit): lines in a text file, rows in a table. It is in messages, in the audit, in
// rejects, and in the checkpoints of a load.
type Position int64

// Record is a document as it was read. It is valid until the next record is read; what Doc refers
// to stays.
type Record struct {
	Doc     engine.Doc
	File    string
	Pos     Position // where the record begins
	End     Position // where it ends, in the unit Description.EndUnit; Options.After continues after it
	Seq     uint64   // of a stored document, the number of its write
	BadUTF8 bool     // it held invalid UTF-8, which is U+FFFD in Doc
	Flaw    string   // what of its ID, text and fingerprint cannot be used, and counts as missing; "" for nothing

	Picture *imagehash.Result // of a picture, what its hash is made of; else nil

	// Raw is what Copier.Copy needs; in files of lines, the bytes of the record with its line end.
	// It is valid until the next record is read.
	Raw []byte
}

// Issue is what is no record, such as broken JSON, or has no ID where one is needed. A record of
// which something else cannot be used has a Flaw.
type Issue struct {
	File   string
	Pos    Position
	Unit   string   // of Pos
	End    Position // as in Record; 0 where it may be complete when the file is read again
	Reason string
	Size   int64 // of the record, in bytes

	// Raw is the record, or its beginning if it is larger than MaxRecord. It is valid until the
	// next record is read.
	Raw   []byte
	whole *os.File // the record, if it is larger, in a temporary file; see Bytes
}

// Error is "file:position: reason", without the position where the record is a whole file.
func (i *Issue) Error() string {
	if i.Unit == UnitFile {
		return i.File + ": " + i.Reason
	}
	return fmt.Sprintf("%s:%d: %s", i.File, i.Pos, i.Reason)
}

// NewIssue returns the issue that reason is with a record of src.
func NewIssue(src Source, rec *Record, reason string) *Issue {
	return &Issue{
		File: rec.File, Pos: rec.Pos, Unit: src.Info().Format.Unit(), End: rec.End, Reason: reason,
		Raw: rec.Raw, Size: int64(len(rec.Raw)),
	}
}

// ReadError ends the reading of a file.
type ReadError struct {
	File string
	Pos  Position // the last record that was read; NoPosition where the error is about the file
	Unit string   // of Pos
	Err  error
}

// NoPosition is the position of an error that is about the whole file.
const NoPosition Position = -1

// Error names the file, how far it was read, and why no further.
func (e *ReadError) Error() string {
	switch {
	case e.Pos < 0:
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	case e.Pos == 0:
		return fmt.Sprintf("%s: could not be read: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s: could not be read past %s %d: %v", e.File, e.Unit, e.Pos, e.Err)
}

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// Copier writes records of sources of one shape to an output, so that the output reads like the
// sources.
type Copier interface {
	// Copy appends a record of src, given its Raw, with the values of CopyOptions.Columns: int64,
	// float64, string or nil.
	Copy(src Source, raw []byte, values ...any) error
	// Close completes the output, with a footer for example. It does not close the writer.
	Close() error
}

// CopyOptions say how a Copier writes.
type CopyOptions struct {
	// Follow completes every record at once, for a reader that follows the output: a last line
	// without a newline gets one. Without it, the output ends as the input does.
	Follow bool

	// Like is a source of the shape of those that are copied, or nil. A format may need it for an
	// output without records. It may be closed.
	Like Source

	// Bare writes records as they are, without an array around those of JSON: some are broken.
	Bare bool

	// Null ends each path with a zero byte instead of a newline, in formats whose copies are lists
	// of paths.
	Null bool

	// Columns are further ones that the copies get. CanExtend has to allow them.
	Columns []Column
}

// ValidText returns s with every invalid byte replaced by U+FFFD, as JSON decoders do.
func ValidText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}
