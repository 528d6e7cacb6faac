// Package output writes rows of results in the formats that simdb prints: a boxed table, TSV, CSV, JSON lines, a
// JSON array, bare ids, or only how many rows there are.
//
// A Writer takes one row at a time and, the table excepted, holds none of them: a result of any length passes through
// in constant memory. A table needs the widths of all its cells, so it holds rows back; one that is longer than
// tableChunk rows is drawn as several.
//
// Values have the types string, bool, int, int64, uint64 (a fingerprint), float64, time.Time, time.Duration,
// json.RawMessage, and nil for "there is none":
//
//	           table            tsv                csv              json, jsonl
//	string     as it is(1)      \t \n \r \\ (2)    RFC 4180         "..." (3)
//	uint64     16 hex digits    16 hex digits      16 hex digits    "16 hex digits"
//	float64    4 decimals       shortest exact     shortest exact   shortest exact
//	time       RFC 3339, UTC    same               same             "same"
//	RawMessage one line         one line, escaped  one line         as it is, on one line
//	nil        empty            empty              empty            null
//
// (1) control characters are shown escaped, so that data can't drive the terminal, as they are in TSV, CSV and ids on one;
// long text ends in "…" where a width is given. (2) so that a row is always one line and a tab always ends a cell. (3) bytes that are not UTF-8 become
// U+FFFD, as JSON has no way to say them; the other formats keep them.
package output

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Format is how rows are written.
type Format int

// The formats, as --format and .mode name them.
const (
	Table Format = iota // boxed, for reading
	TSV                 // a line a row, cells ended by tabs; a header only on a terminal
	CSV                 // RFC 4180 with a header; lines end in LF
	JSONL               // an object a line, its keys the columns
	JSON                // one array of such objects
	IDs                 // the id column alone; of pairs, both ids with a tab between
	Count               // how many rows there are, of clusters how many clusters, or for the result of COUNT, its value
)

var formatNames = [...]string{"table", "tsv", "csv", "jsonl", "json", "ids", "count"}

// Formats returns the names of all formats, in the order in which help lists them.
func Formats() []string { return append([]string(nil), formatNames[:]...) }

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) {
	for i, n := range formatNames {
		if strings.EqualFold(n, name) {
			return Format(i), nil
		}
	}
	return 0, fmt.Errorf("unknown format %q: it is one of %s", name, strings.Join(formatNames[:], ", "))
}

// FormatOf returns the format that the ending of a file's name says.
func FormatOf(name string) (Format, bool) {
	ending := strings.TrimPrefix(filepath.Ext(name), ".")
	switch strings.ToLower(ending) {
	case "ndjson":
		return JSONL, true
	case "tab":
		return TSV, true
	}
	f, err := ParseFormat(ending)
	return f, err == nil
}

// String returns the name of f.
func (f Format) String() string {
	if f < 0 || int(f) >= len(formatNames) {
		return fmt.Sprintf("Format(%d)", int(f))
	}
	return formatNames[f]
}

// Structured says whether f is read by programs that expect every line to be JSON.
func (f Format) Structured() bool { return f == JSONL || f == JSON }

// Options say how a Writer writes. The zero value writes a table without colour that is as wide as it needs to be.
type Options struct {
	Format   Format
	Terminal bool // a person reads it: TSV gets a header
	Color    bool // tables are coloured
	Width    int  // columns of the terminal, to which tables are cut; 0 cuts nothing
	MaxRows  int  // rows of a table to draw, the others are counted; 0 draws all
}

// Detect returns the options that suit f: on a terminal a table of its width, or of COLUMNS if that is set, coloured unless
// NO_COLOR is set or TERM is "dumb"; anywhere else TSV.
func Detect(f *os.File) Options {
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return Options{Format: TSV}
	}
	o := Options{Format: Table, Terminal: true, Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w > 0 {
		o.Width = w
	} else if w, _, err := term.GetSize(int(f.Fd())); err == nil {
		o.Width = w
	}
	return o
}

// formatter writes rows in one format. Its methods are called in the order begin, row..., end; errors of w stick to
// the bufio.Writer and surface at its Flush.
type formatter interface {
	begin(w *bufio.Writer, columns []string)
	row(w *bufio.Writer, values []any)
	end(w *bufio.Writer, rows int64)
}

// Writer writes the rows of one result. Its methods must not be called concurrently.
type Writer struct {
	w       *bufio.Writer
	f       formatter
	columns []string
	rows    int64
	closed  bool
}

// New returns a Writer of rows that have these columns.
func New(w io.Writer, columns []string, o Options) *Writer {
	out := &Writer{w: bufio.NewWriterSize(w, 32<<10), columns: columns}
	switch o.Format {
	case TSV:
		out.f = &tsv{header: o.Terminal, terminal: o.Terminal}
	case CSV:
		out.f = &csvFormat{terminal: o.Terminal}
	case JSONL:
		out.f = &jsonFormat{}
	case JSON:
		out.f = &jsonFormat{array: true}
	case IDs:
		out.f = &ids{tsv: tsv{terminal: o.Terminal}}
	case Count:
		out.f = &count{}
	default:
		out.f = &tableFormat{o: o}
	}
	out.f.begin(out.w, columns)
	return out
}

// Row writes one row, a value for each column.
func (w *Writer) Row(values ...any) error {
	if len(values) != len(w.columns) {
		return fmt.Errorf("a row of %d values for %d columns", len(values), len(w.columns))
	}
	w.rows++
	w.f.row(w.w, values)
	return w.err()
}

// err returns the error that an earlier write met: an empty write to a bufio.Writer returns what sticks to it.
func (w *Writer) err() error {
	_, err := w.w.Write(nil)
	return err
}

// Rows is how many rows have been written.
func (w *Writer) Rows() int64 { return w.rows }

// Flush hands what is complete to the underlying writer: all rows so far, for every format but the table.
func (w *Writer) Flush() error { return w.w.Flush() }

// Close ends the result and flushes it. A second Close does nothing.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	w.f.end(w.w, w.rows)
	return w.w.Flush()
}
