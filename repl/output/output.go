// Package output writes rows in the formats that simdb prints: a boxed table, TSV, CSV, JSON lines,
// a JSON array, a line per cell, ids alone, clusters of ids, the number of rows, or Parquet.
//
//	w := output.New(os.Stdout, []string{"id", "distance"}, &output.Options{Format: output.JSONL})
//	err := w.Row("doc-17", 3) // {"id":"doc-17","distance":3}
//	err = w.Close()
//
// A [Writer] writes the rows of one result. [Options] select its [Format]; [Detect] has those that
// fit a terminal, a pipe or a file. An [Encoder] implements the format Parquet, which this package
// does not.
//
// A Writer holds no rows, except for a table: that needs the widths of all its cells, so the Writer
// holds up to tableChunk rows and draws a longer result as several tables. So a result of any
// length needs constant memory. For Parquet the Writer holds a row group of some 64 MB.
//
// Values have the types string, bool, int, int64, uint64 (a fingerprint), float64, time.Time,
// time.Duration, json.RawMessage, and nil for no value:
//
//	             table            tsv                csv              json, jsonl
//	string       as it is(1)      \t \n \r \\ (2)    RFC 4180         "..." (3)
//	uint64       16 hex digits    16 hex digits      16 hex digits    "16 hex digits"
//	float64      4 decimals       shortest exact     shortest exact   shortest exact
//	time         RFC 3339, UTC    same               same             "same"
//	RawMessage   one line         one line, escaped  one line         as it is, on one line
//	nil          empty            empty              empty            null
//
// (1) Control characters, and those that change the direction of text, are escaped, so that data
// cannot control the terminal; on a terminal, TSV, CSV and ids escape them, too. Long text is cut
// and ends in "…" if there is a width. (2) The escapes ensure that a row is always one line and a
// tab always ends a cell. (3) Bytes that are not UTF-8 become U+FFFD, because JSON cannot represent
// them; the other formats write them unchanged.
package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// formatter writes rows in one format. Its methods are called in the order begin, row..., end.
// Errors of w stay in the bufio.Writer, whose Flush returns them.
type formatter interface {
	begin(w *bufio.Writer, columns []string)
	row(w *bufio.Writer, values []any)
	end(w *bufio.Writer, rows int64)
}

// encoded is the format of an Encoder.
type encoded struct {
	Encoder
	err error
}

func (f *encoded) begin(*bufio.Writer, []string) {}

func (f *encoded) row(_ *bufio.Writer, values []any) {
	if f.err == nil {
		f.err = f.Row(values)
	}
}

func (f *encoded) end(*bufio.Writer, int64) {
	if f.Encoder != nil {
		f.err = f.End()
	}
}

// Writer writes the rows of one result. Its methods must not be called concurrently.
type Writer struct {
	w       *bufio.Writer
	f       formatter
	columns []string
	rows    int64
	closed  bool
}

// New returns a Writer of rows with the given columns. o may be nil.
func New(w io.Writer, columns []string, o *Options) *Writer {
	if o == nil {
		o = new(Options)
	}
	out := &Writer{w: bufio.NewWriterSize(w, 32<<10), columns: columns}
	switch o.Format {
	case TSV:
		out.f = &tsv{header: o.Terminal || o.Header, terminal: o.Terminal}
	case CSV:
		out.f = &csvFormat{terminal: o.Terminal, guard: o.CSVGuard}
	case JSONL:
		out.f = &jsonFormat{}
	case JSON:
		out.f = &jsonFormat{array: true}
	case IDs:
		out.f = &ids{tsv: tsv{terminal: o.Terminal}}
	case Count:
		out.f = &count{}
	case Line:
		out.f = &lineFormat{}
	case Groups:
		out.f = &groups{ids: ids{tsv: tsv{terminal: o.Terminal}}}
	case Parquet:
		if out.f = (&encoded{err: errors.New("this program cannot write Parquet")}); o.Parquet != nil {
			out.f = &encoded{Encoder: o.Parquet(out.w, columns, o.Like)}
		}
	default:
		out.f = &tableFormat{o: *o}
	}
	out.f.begin(out.w, columns)
	return out
}

// Row writes one row. It returns an error if the number of values differs from the number of
// columns, or if this or an earlier write failed.
func (w *Writer) Row(values ...any) error {
	if len(values) != len(w.columns) {
		return fmt.Errorf("a row of %d values for %d columns", len(values), len(w.columns))
	}
	w.rows++
	w.f.row(w.w, values)
	return w.err()
}

// err returns the error of an earlier write, which an empty write to the bufio.Writer returns, or
// the error of the format.
func (w *Writer) err() error {
	if f, ok := w.f.(*encoded); ok {
		return f.err // the encoder may be writing to w.w
	}
	_, err := w.w.Write(nil)
	return err
}

// Rows returns how many rows have been written.
func (w *Writer) Rows() int64 { return w.rows }

// Flush writes all rows so far to the underlying writer, except rows that a table still holds.
func (w *Writer) Flush() error {
	w.Abandon()
	return w.w.Flush()
}

// Abandon replaces Close for a result that must not be completed: once Abandon has returned,
// nothing more is written.
func (w *Writer) Abandon() {
	if f, ok := w.f.(*encoded); ok && f.err == nil {
		f.err = f.Wait()
	}
}

// Close ends the result and flushes it. It does not close the underlying writer. A second Close
// does nothing.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	w.f.end(w.w, w.rows)
	if err := w.err(); err != nil {
		return err
	}
	return w.w.Flush()
}
