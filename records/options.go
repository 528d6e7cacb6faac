package records

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/imagehash"
)

// Options describe the format of a file. The zero value detects it. A format rejects an option that
// it does not use only where ignoring it would mislead the user.
type Options struct {
	Format    Format // Auto recognises it
	IDField   string // name or number (from 1) of the ID field; "" means "id"
	TextField string // the same for the text; "" means "text"; comma-separated fields are joined by newlines
	// Fields, if not nil, replaces TextField: engine.JoinFields joins the texts of these fields. A
	// record may lack some fields.
	Fields []string
	// SetField, if not "", replaces TextField: each document is a set, and this field has its
	// members, as an array or a string. With Weighted it may also have an object, whose keys are
	// features, and whose values are their weights.
	SetField string
	Weighted bool

	// Records, if not "", is the path of a JSON list or object whose elements or members are the
	// records; "." is the whole value.
	Records string

	// RecordStart, if not "", is a regular expression of package regexp for plain text: a record
	// begins with a line that matches, instead of with each line. With it, Auto is plain text.
	RecordStart string

	FingerprintField string // the same for the fingerprint; "" means "fingerprint"

	// NoHeader is true if the first row of CSV or TSV is data. Fields then have numbers; the ID is
	// field 1 and the text field 2 unless the options above say otherwise.
	NoHeader bool

	// Delimiter separates the columns of CSV; 0 is a comma. If it is set, Auto reads every file as
	// CSV unless its name ends in .jsonl.
	Delimiter byte

	// Comment is the first character of comment lines in CSV and TSV; 0 means that there are none.
	Comment byte

	// Encoding is the encoding of text files; with UTF8, a byte order mark overrides it. For mails
	// and pages, it applies to those that do not declare an encoding.
	Encoding Encoding

	Orientations bool // a picture gets the hashes of all eight orientations

	// HTML says what the text of a page is: the visible text or, with "raw", the markup. With "text",
	// the texts of other records are HTML, too. Fields of a page are "title", "headings" (h1 to h6)
	// and "body", which is everything that no other field has.
	HTML       string
	PageFields []string // Fields of pages that TextField has; with HTML "text" and without Fields
	Cut        bool     // records are to be copied with only a part of their text: see Cutter

	Context context.Context // its end interrupts reads of pipes and terminals; may be nil

	Tally *Tally // counts skipped records, once all is read; may be nil

	// Fingerprints is the notation of fingerprints written as text. With Auto, the rule of package
	// base decides for each one, and a file that mixes both notations is refused.
	Fingerprints Notation

	// Bits is the length of fingerprints; 0 detects it from the beginning of the file. A file with
	// a different length, or several, is refused.
	Bits int

	// IDFrom selects the source of IDs. The zero value reads IDField; with other values no field is
	// read, and every record gets an ID.
	IDFrom IDFrom

	// Need says which parts of a document the caller needs. A source may leave out the others, and
	// then does not detect errors in them.
	Need Need

	// Called gives options other names in messages: a job may have a text field for each of two
	// inputs. Its keys are names of fields of Options.
	Called map[string]string

	Answers bool     // somebody may wait for the answer to a record of a pipe before writing the next one
	IDsOnly bool     // JSON records need neither text nor fingerprint; other records without them are an Issue
	NoText  bool     // records need neither text nor fingerprint: only their fields are compared
	MakeID  bool     // a record without an ID gets "file:position" instead of being an Issue
	After   Position // skip records that end at or before this position
	Workers int      // goroutines that parse; 0 means GOMAXPROCS
	Memory  int64    // of the run, in bytes; the window of a decompressor may use a part
}

// Notation is the notation of a fingerprint as text.
type Notation = base.Notation

// PictureHash is an algorithm that computes a perceptual hash of a picture.
type PictureHash = imagehash.Kind

// FeatureParams are the parameters of the fingerprint and sketch of a text. Fingerprints and
// sketches are comparable only if their parameters are equal.
type FeatureParams = features.Params

// TextFields returns the names of the fields that make up the text; by default, "text".
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

// Call returns the name of an option for messages.
func (o Options) Call(field string) string { return cmp.Or(o.Called[field], field) }

// TextOption returns the name, for messages, of the option that selects the fields of the text.
func (o Options) TextOption() string {
	switch {
	case o.Fields != nil:
		return "Fields"
	case o.SetField != "" && o.Weighted:
		return "FeaturesField"
	case o.SetField != "":
		return "SetField"
	}
	return o.Call("TextField")
}

// Need says which parts of a document a reader needs.
type Need uint8

// Values of Need, each a subset of the previous one.
const (
	NeedAll  Need = iota
	NeedDoc       // all but the Record.Raw of a database
	NeedText      // no fields
	NeedID        // only the ID, and the Record.Raw of a file
)

// IDFrom is the source of the IDs of records.
type IDFrom string

// Values of IDFrom.
const (
	IDFromField IDFrom = ""     // the field Options.IDField
	IDFromHash  IDFrom = "hash" // the 128-bit XXH3 hash of the text, in 32 hexadecimal digits
	IDFromLine  IDFrom = "line" // of the place: "file:position"
)

// UnmarshalText parses the name of an IDFrom value.
func (f *IDFrom) UnmarshalText(text []byte) error {
	switch from := IDFrom(text); from {
	case IDFromField, IDFromHash, IDFromLine:
		*f = from
		return nil
	}
	return fmt.Errorf("%q cannot make ids: use hash or line", text)
}

// ParseComment parses Options.Comment: one ASCII character.
func ParseComment(s string) (byte, error) {
	if len(s) != 1 || s[0] >= 0x80 || s[0] <= ' ' || s[0] == '"' {
		return 0, fmt.Errorf("%q cannot begin comments: use one character such as #, not a quote or a blank", s)
	}
	return s[0], nil
}

// ParseDelimiter parses Options.Delimiter: one ASCII character, or the word tab.
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

// Auto detects the format of an input from its first bytes, its name and its content.
const Auto Format = ""
