// Package input reads documents from files as people have them: JSON lines, CSV, TSV, plain text and lists of
// fingerprints, plain or compressed with gzip or zstd.
//
// A file is read in one pass, in bounded memory, and its records come in the order of the file:
//
//	decompress -> split into records -> batches -> parse, on every core -> put back in order -> the caller
//
// The first two steps are one goroutine, since neither can be divided; a record is cut out there, with its line
// number, and nothing else is done to it. Parsing is spread over the cores.
//
// A record that can't be used is an *Issue with file, line, reason and the line itself, and reading goes on with the
// next record. What ends the reading, such as a truncated gzip file, is a *ReadError, which names the line that was
// reached; everything before that line has been delivered.
package input

import (
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fptext"
)

// MaxRecord is the most bytes that a record (a line; in CSV a row) may have. A longer one is an Issue and is skipped
// without being held in memory.
const MaxRecord = engine.MaxTextBytes

// Options say what a file holds. The zero value finds out.
type Options struct {
	Format           Format
	IDField          string // name or number (from 1) of the field with the document's ID; "" means "id"
	TextField        string // the same for its text; "" means "text"
	FingerprintField string // the same for its fingerprint; "" means "fingerprint"
	NoHeader         bool   // csv, tsv: the first row is data, fields go by number; ID is 1 and text is 2 unless said
	Delimiter        byte   // csv: what separates columns; 0 is a comma. It makes files csv that are not called .jsonl

	// Fingerprints is how all fingerprints are written that are text. With Auto the rule of package fptext holds, and a file
	// that has both kinds is refused.
	Fingerprints fptext.Notation
	MakeID       bool  // a record without an ID gets "file:line" instead of being an Issue
	Skip         int64 // lines at the beginning of the file that are not wanted
	Workers      int   // goroutines that parse; 0 means GOMAXPROCS
}

// Record is a document as it was read.
type Record struct {
	Doc     engine.Doc
	File    string
	Line    int64  // the record's first line, from 1
	EndLine int64  // its last line; another one than Line in CSV alone
	Raw     []byte // the record byte for byte with its line end; good until the next record is asked for
	BadUTF8 bool   // it held invalid UTF-8, which is U+FFFD in Doc

	notation fptext.Notation // of a fingerprint that is text, where the rule decided
	written  []byte          // that text
}

// Issue is a record that can't be used.
type Issue struct {
	File   string
	Line   int64
	Reason string
	Raw    []byte // the record, cut if it was over MaxRecord; good until the next record is asked for
	Size   int64  // bytes of the record
}

// Error is "file:line: reason".
func (i *Issue) Error() string { return fmt.Sprintf("%s:%d: %s", i.File, i.Line, i.Reason) }

// ReadError ends the reading of a file.
type ReadError struct {
	File string
	Line int64 // the last line that was read whole; -1 where lines do not matter
	Err  error
}

// Error names the file, how far it was read, and why not further.
func (e *ReadError) Error() string {
	if e.Line < 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s: could not be read past line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }
