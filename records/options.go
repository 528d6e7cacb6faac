package records

import (
	"context"
	"fmt"
	"strings"

	"github.com/simdb/simdb/internal/base"
)

// Options say how a file is written. The zero value finds out. A format refuses an option that it
// has no use for only where the user would be misled.
type Options struct {
	Format    Format // Auto recognises it
	IDField   string // name or number (from 1) of the field with the ID; "" means "id"
	TextField string // the same for the text; "" means "text"; several with commas between them are joined by newlines
	// Fields, if not nil, are fields whose texts make up that of a document in the way of
	// engine.JoinFields, in place of TextField. A record may lack some.
	Fields []string
	// SetField, if not "", is the field with the members of the set that a document is: an array,
	// or a string. It takes the place of TextField.
	SetField string

	// Records, if not "", is the path to a list or an object in JSON whose elements or members are
	// the records; "." is the whole value.
	Records string

	FingerprintField string // the same for the fingerprint; "" means "fingerprint"

	// NoHeader says that the first row of csv and tsv is data. Fields have numbers then; 1 is the
	// ID and 2 the text unless the options above say otherwise.
	NoHeader bool

	// Delimiter separates the columns of csv; 0 is a comma. If it is set, Auto takes every file for
	// csv that is not called .jsonl.
	Delimiter byte

	// Comment is what lines of csv and tsv begin with that are no records; 0 is nothing.
	Comment byte

	// Encoding is that of text; with UTF8 a byte order mark decides. Of mails and pages it is that
	// of those that do not say how they are encoded.
	Encoding Encoding

	Orientations bool // a picture has the hashes of all eight orientations

	RawHTML bool // the text of a page has its markup
	Cut     bool // records are to be copied with a part of their text: see Cutter

	Context context.Context // ends reads of what is no regular file, when it ends; or nil

	Tally *Tally // to be told what is left out, once all is read; or nil

	// Fingerprints is the notation of fingerprints that are text. With Auto the rule of package
	// base decides for each, and a file that has both notations is refused.
	Fingerprints base.Notation

	// Bits is the length of fingerprints. With 0 it is what the beginning of the file shows; a file
	// with another one, or several, is refused.
	Bits int

	// IDFrom says what IDs are made of. With the zero value they are those of IDField; otherwise no
	// field is read for them, and all records get one.
	IDFrom IDFrom

	// Need says what the caller needs of a document. A source may leave out the rest, and then does
	// not notice what is wrong with it.
	Need Need

	Answers bool     // somebody may wait for the answer to a record of a pipe before writing the next one
	IDsOnly bool     // a record of JSON may have neither text nor fingerprint; others are an Issue
	MakeID  bool     // a record without an ID gets "file:position" instead of being an Issue
	After   Position // records that end at or before it are skipped
	Workers int      // goroutines that parse; 0 means GOMAXPROCS
	Memory  int64    // of the run, of which a part may be the window of a decompressor
}

// TextFields are the names of the fields that make up the text; "text" if none is named.
func (o Options) TextFields() []string {
	switch {
	case o.Fields != nil:
		return o.Fields
	case o.SetField != "":
		return []string{o.SetField}
	case o.TextField == "":
		return []string{"text"}
	}
	return strings.Split(o.TextField, ",")
}

// Need is what a reader needs of documents.
type Need uint8

// What readers need.
const (
	NeedAll  Need = iota
	NeedDoc       // all but Record.Raw of a database
	NeedText      // no fields
	NeedID        // only the ID, and Record.Raw of a file
)

// IDFrom is what the IDs of records are made of.
type IDFrom string

// What IDs are made of.
const (
	IDFromField IDFrom = ""     // they are those of Options.IDField
	IDFromHash  IDFrom = "hash" // of the text: its XXH3, 128 bits, in 32 hexadecimal digits
	IDFromLine  IDFrom = "line" // of the place: "file:position"
)

// UnmarshalText parses the name of a value.
func (f *IDFrom) UnmarshalText(text []byte) error {
	switch from := IDFrom(text); from {
	case IDFromField, IDFromHash, IDFromLine:
		*f = from
		return nil
	}
	return fmt.Errorf("%q is nothing to make an id of: hash or line", text)
}

// ParseComment reads what comments begin with: one character of ASCII.
func ParseComment(s string) (byte, error) {
	if len(s) != 1 || s[0] >= 0x80 || s[0] <= ' ' || s[0] == '"' {
		return 0, fmt.Errorf("%q is nothing that comments begin with: use one character such as #, not a quote or a blank", s)
	}
	return s[0], nil
}

// ParseDelimiter reads what separates columns: one character of ASCII, or the word tab.
func ParseDelimiter(s string) (byte, error) {
	if s == "tab" || s == `\t` {
		return '\t', nil
	}
	if len(s) != 1 || s[0] >= 0x80 || s[0] < ' ' && s[0] != '\t' || s[0] == '"' {
		return 0, fmt.Errorf("%q is not a delimiter: use one character such as ; or |, or the word tab; not a quote or a line end", s)
	}
	return s[0], nil
}

// Format is the name of a format: "jsonl".
type Format string

// Auto is the format of an input that is recognised: by its first bytes, its name, and its content.
const Auto Format = ""
