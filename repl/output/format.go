package output

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Format is a format of rows.
type Format int

// The formats, in the order of their names in ParseFormat and .mode.
const (
	Table   Format = iota // boxed, for reading
	TSV                   // one line per row, tabs between cells; a header only on a terminal
	CSV                   // RFC 4180 with a header; lines end in LF
	JSONL                 // one object per line, with the columns as keys
	JSON                  // one array of such objects
	IDs                   // only the id column; for pairs, both ids with a tab between them
	Count                 // the number of rows; for clusters, of clusters; for COUNT, its value
	Line                  // one line per cell, with the name of its column
	Groups                // ids, one a line, with an empty line between clusters
	Parquet               // a Parquet file with one result
)

var formatNames = [...]string{"table", "tsv", "csv", "jsonl", "json", "ids", "count", "line", "groups", "parquet"}

// Formats returns the names of all formats, in the order of help.
func Formats() []string { return append([]string(nil), formatNames[:]...) }

// ParseFormat returns the format with a name, in any case.
func ParseFormat(name string) (Format, error) {
	for i, n := range formatNames {
		if strings.EqualFold(n, name) {
			return Format(i), nil
		}
	}
	return 0, fmt.Errorf("unknown format %q: it is one of %s", name, strings.Join(formatNames[:], ", "))
}

// FormatOf returns the format that the extension of a file name stands for, or false if it stands
// for none.
func FormatOf(name string) (Format, bool) {
	ending := strings.TrimPrefix(filepath.Ext(name), ".")
	switch strings.ToLower(ending) {
	case "ndjson":
		return JSONL, true
	case "tab":
		return TSV, true
	case "pq":
		return Parquet, true
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

// Options configures a Writer. The zero value writes a table without colour and of any width.
type Options struct {
	Format   Format
	Terminal bool // the output is a terminal: TSV gets a header, control characters are escaped
	Color    bool // tables are coloured
	Header   bool // TSV has a header even if the output is not a terminal
	Width    int  // columns of the terminal, to which tables are cut; 0 for no cut
	MaxRows  int  // rows of a table to draw, further rows are counted; 0 for all
	CSVGuard bool // CSV cells of data that a spreadsheet would run as formulas begin with an apostrophe

	// Parquet creates the encoder of Parquet, which this package does not implement. like is Like.
	Parquet func(w io.Writer, columns []string, like []any) Encoder
	// Like has a value of the type of each column, for Parquet; without it, the first rows decide.
	Like []any
}

// An Encoder writes rows in a format that another package implements. If Row fails, the Encoder
// writes no more, and End returns that error. After Wait, others may write to the file.
type Encoder interface {
	Row(values []any) error
	Wait() error
	End() error
}

// Detect returns options for f. On a terminal, the format is a table as wide as the terminal, or as
// COLUMNS if that is set, in colour unless NO_COLOR is set or TERM is "dumb"; elsewhere it is TSV.
// f may be nil.
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
