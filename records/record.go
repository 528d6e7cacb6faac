package records

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/imagehash"
)

// MaxRecord is the largest size of a record in bytes. A larger one is an Issue and is skipped
// without being held in memory.
const MaxRecord = engine.MaxTextBytes

// Position is the place of a record in its source, counted from 1 in the unit of its format
// (Format.Unit): lines in a text file, rows in a table. It is in messages, in the audit, in
// rejects, and in the checkpoints of a load.
type Position int64

// NoPosition is the position of an error that is about the whole file.
const NoPosition Position = -1

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

// Error is "file:position: reason", without the position where the record is a whole file or
// stored.
func (i *Issue) Error() string {
	if i.Unit == UnitFile || i.Pos == 0 { // of a database
		return i.File + ": " + i.Reason
	}
	return fmt.Sprintf("%s:%d: %s", i.File, i.Pos, i.Reason)
}

// ReadError ends the reading of a file.
type ReadError struct {
	File string
	Pos  Position // the last record that was read; NoPosition where the error is about the file
	Unit string   // of Pos
	Err  error
}

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

// AppendString appends s as a JSON string; what is no UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	b, s = append(b, '"'), ValidText(s)
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// Column is one that the records of a copy get in addition to their own.
type Column struct {
	Name string
	Kind ColumnKind
}

// ColumnKind is the type of the values of a Column. Each may be null, which is nil.
type ColumnKind uint8

// Kinds of columns.
const (
	WholeColumn ColumnKind = iota // int64
	RealColumn                    // float64
	TextColumn                    // string
)

// UnitFile is the unit of a format whose records are whole files. Messages leave the position out.
const UnitFile = "file"

// AppendFloat appends a number of that many bits as JSON; those that JSON has not become strings.
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
