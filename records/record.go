package records

import (
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/jsontext"
)

// MaxRecord is the largest size of a record in bytes. A larger record is an Issue, and is skipped
// without being held in memory.
const MaxRecord = base.MaxTextBytes

// Position is the place of a record in its source, counted from 1 in the unit of its format
// (Format.Unit): lines in a text file, rows in a table. It appears in messages, the audit, rejects,
// and the checkpoints of a load.
type Position int64

// NoPosition is the position of an error that is about the whole file.
const NoPosition Position = -1

// Record is a document as read from a source. It is valid until the next record is read; the texts
// and fields of Doc stay valid.
type Record struct {
	Doc     engine.Doc
	File    string
	Pos     Position // where the record begins
	End     Position // where it ends, in the unit Description.EndUnit; Options.After continues after it
	Seq     uint64   // of a stored document, the number of its write
	BadUTF8 bool     // the record has invalid UTF-8, which is U+FFFD in Doc
	Flaw    string   // which of its ID, text and fingerprint cannot be used and count as missing; "" for none

	Picture *PictureResult // the details of a picture's hash; nil for other documents

	// Raw is the argument of Copier.Copy; in files of lines, the bytes of the record with its line
	// end. It is valid until the next record is read.
	Raw []byte
}

// PictureResult has the hash of a picture and its details.
type PictureResult = imagehash.Result

// Issue reports a part of a source that is not a record, such as broken JSON, or that lacks a
// required ID. A record that cannot be used for another reason has a Flaw.
type Issue struct {
	File   string
	Pos    Position
	Unit   string   // of Pos
	End    Position // as in Record; 0 if the record may be complete when the file is read again
	Reason string
	Size   int64 // of the record, in bytes

	// Raw is the record, or its beginning if it is larger than MaxRecord. It is valid until the
	// next record is read.
	Raw   []byte
	whole *os.File // a temporary file with a record larger than MaxRecord, or nil; see Bytes
}

// Error returns "file:position: reason", without the position if the record is a whole file or is
// stored in a database.
func (i *Issue) Error() string {
	if i.Unit == UnitFile || i.Pos == 0 { // a stored record
		return i.File + ": " + i.Reason
	}
	return fmt.Sprintf("%s:%d: %s", i.File, i.Pos, i.Reason)
}

// ReadError ends the reading of a file.
type ReadError struct {
	File string
	Pos  Position // the last record read; NoPosition if the error concerns the whole file
	Unit string   // of Pos
	Err  error
}

// Error names the file, the last position read, and the cause.
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

// ValidText returns s with every invalid byte replaced by U+FFFD, as JSON decoders do.
func ValidText(s string) string { return jsontext.ValidText(s) }

// AppendString appends s as a JSON string; invalid UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte { return jsontext.AppendString(b, s) }

// Column is a column that a copy adds to its records.
type Column struct {
	Name string
	Kind ColumnKind
}

// ColumnKind is the type of the values of a Column. Any value may be nil, which is written as null.
type ColumnKind uint8

// Kinds of columns.
const (
	WholeColumn ColumnKind = iota // int64
	RealColumn                    // float64
	TextColumn                    // string
)

// UnitFile is the unit of a format whose records are whole files. Messages leave the position out.
const UnitFile = "file"

// AppendFloat appends a number of 32 or 64 bits as JSON; NaN and infinities become strings.
func AppendFloat(b []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return AppendString(b, strconv.FormatFloat(f, 'g', -1, bits))
	}
	notation := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		notation = 'g'
	}
	return strconv.AppendFloat(b, f, notation, -1, bits)
}
