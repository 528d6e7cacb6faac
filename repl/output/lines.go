package output

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/display"
	"github.com/simdb/simdb/internal/printable"
)

// tsv writes one line per row. A tab, a line end or a backslash within a cell is written as \t, \n,
// \r or \\, so a row is always one line, and cut -f finds its cells.
type tsv struct {
	header    bool
	terminal  bool // control characters are shown escaped
	cell, buf []byte
}

func (f *tsv) begin(w *bufio.Writer, columns []string) {
	if !f.header {
		return
	}
	for i, c := range columns {
		f.put(w, c, i == len(columns)-1)
	}
}

func (f *tsv) row(w *bufio.Writer, values []any) {
	for i, v := range values {
		f.put(w, v, i == len(values)-1)
	}
}

func (f *tsv) end(*bufio.Writer, int64) {}

// put writes one cell and the tab or line end after it.
func (f *tsv) put(w *bufio.Writer, v any, last bool) {
	f.cell = display.AppendText(f.cell[:0], v)
	f.buf = appendEscaped(f.buf[:0], f.cell)
	if f.terminal {
		f.buf = []byte(printable.Text(string(f.buf)))
	}
	if last {
		f.buf = append(f.buf, '\n')
	} else {
		f.buf = append(f.buf, '\t')
	}
	w.Write(f.buf)
}

// appendEscaped appends s with tabs, line ends and backslashes escaped.
func appendEscaped(b, s []byte) []byte {
	if !bytes.ContainsAny(s, "\t\n\r\\") {
		return append(b, s...)
	}
	for _, c := range s {
		switch c {
		case '\t':
			b = append(b, `\t`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\\':
			b = append(b, `\\`...)
		default:
			b = append(b, c)
		}
	}
	return b
}

// csvFormat writes RFC 4180 with a header.
type csvFormat struct {
	terminal bool // control characters are shown escaped
	guard    bool // see Options.CSVGuard
	w        *csv.Writer
	cells    []string
	cell     []byte
}

func (f *csvFormat) begin(w *bufio.Writer, columns []string) {
	f.w = csv.NewWriter(w) // csv.NewWriter uses w as its buffer, so Writer.Flush flushes everything
	f.w.Write(columns)
	f.cells = make([]string, len(columns))
}

func (f *csvFormat) row(_ *bufio.Writer, values []any) {
	for i, v := range values {
		f.cell = display.AppendText(f.cell[:0], v)
		f.cells[i] = string(f.cell)
		if f.guard && isFormula(v, f.cells[i]) {
			f.cells[i] = "'" + f.cells[i]
		}
		if f.terminal {
			f.cells[i] = printable.Text(f.cells[i])
		}
	}
	f.w.Write(f.cells)
}

// isFormula reports whether a spreadsheet would run a cell as a formula instead of showing it.
// Numbers and times are never formulas.
func isFormula(v any, cell string) bool {
	switch v.(type) {
	case string, json.RawMessage:
		first, _ := utf8.DecodeRuneInString(cell)
		return strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) && cell != ""
	}
	return false
}

func (f *csvFormat) end(*bufio.Writer, int64) {}

// jsonFormat writes one object per line, or one array of objects.
type jsonFormat struct {
	array bool
	keys  [][]byte // `{"id":`, `,"distance":`, ...
	any   bool     // a row has been written
	buf   []byte
}

func (f *jsonFormat) begin(w *bufio.Writer, columns []string) {
	for i, c := range columns {
		key := []byte{','}
		if i == 0 {
			key[0] = '{'
		}
		f.keys = append(f.keys, append(display.AppendJSON(key, c), ':'))
	}
	if f.array {
		w.WriteByte('[')
	}
}

func (f *jsonFormat) row(w *bufio.Writer, values []any) {
	b := f.buf[:0]
	if f.array && f.any {
		b = append(b, ",\n"...)
	}
	f.any = true
	for i, v := range values {
		b = display.AppendJSON(append(b, f.keys[i]...), v)
	}
	b = append(b, '}')
	if !f.array {
		b = append(b, '\n')
	}
	f.buf = b
	w.Write(b)
}

func (f *jsonFormat) end(w *bufio.Writer, _ int64) {
	if f.array {
		w.WriteString("]\n")
	}
}

// lineFormat writes a line per cell, with the name of the column before it, and an empty line
// between rows. Line ends within a cell are escaped as in TSV.
type lineFormat struct {
	names     []string
	any       bool // a row has been written
	cell, buf []byte
}

func (f *lineFormat) begin(_ *bufio.Writer, columns []string) {
	width := 0
	for _, c := range columns {
		width = max(width, utf8.RuneCountInString(printable.Text(c)))
	}
	for _, c := range columns {
		c = printable.Text(c)
		f.names = append(f.names, strings.Repeat(" ", width-utf8.RuneCountInString(c))+c+" = ")
	}
}

func (f *lineFormat) row(w *bufio.Writer, values []any) {
	if f.any {
		w.WriteByte('\n')
	}
	f.any = true
	for i, v := range values {
		f.cell = display.AppendText(f.cell[:0], v)
		f.buf = appendEscaped(append(f.buf[:0], f.names[i]...), f.cell)
		w.WriteString(printable.Text(string(f.buf)))
		w.WriteByte('\n')
	}
}

func (f *lineFormat) end(*bufio.Writer, int64) {}

// ids writes the id of each row: the column "id"; for pairs, the columns "a" and "b" separated by a
// tab; for other rows, the first column.
type ids struct {
	tsv
	at []int
}

func (f *ids) begin(_ *bufio.Writer, columns []string) {
	if i := slices.Index(columns, "id"); i >= 0 {
		f.at = []int{i}
	} else if a, b := slices.Index(columns, "a"), slices.Index(columns, "b"); a >= 0 && b >= 0 {
		f.at = []int{a, b}
	} else if len(columns) > 0 {
		f.at = []int{0}
	}
}

func (f *ids) row(w *bufio.Writer, values []any) {
	for i, at := range f.at {
		f.put(w, values[at], i == len(f.at)-1)
	}
}

// groups writes ids as ids does, with an empty line between clusters, which are runs of rows with
// equal values in the column "cluster".
type groups struct {
	ids
	cluster int // index of the column, -1 if there is none
	last    any // its value in the previous row
	any     bool
}

func (f *groups) begin(w *bufio.Writer, columns []string) {
	f.ids.begin(w, columns)
	f.cluster = slices.Index(columns, "cluster")
}

func (f *groups) row(w *bufio.Writer, values []any) {
	if f.cluster >= 0 {
		if f.any && values[f.cluster] != f.last {
			w.WriteByte('\n')
		}
		f.any, f.last = true, values[f.cluster]
	}
	f.ids.row(w, values)
}

// count writes the number of rows after the last row. For clusters it writes the number of
// clusters, not of members. For the result of COUNT, one row with one column "count", it writes the
// value.
type count struct {
	isCount, isClusters bool
	value               any   // last value of the first column
	clusters            int64 // number of runs of equal values
}

func (f *count) begin(_ *bufio.Writer, columns []string) {
	f.isCount = len(columns) == 1 && columns[0] == "count"
	f.isClusters = len(columns) > 0 && columns[0] == "cluster"
}

func (f *count) row(_ *bufio.Writer, values []any) {
	if f.isClusters && f.value != values[0] {
		f.clusters++
	}
	if f.isCount || f.isClusters {
		f.value = values[0]
	}
}

func (f *count) end(w *bufio.Writer, rows int64) {
	if f.isCount && f.value != nil {
		w.Write(append(display.AppendText(nil, f.value), '\n'))
		return
	}
	if f.isClusters {
		rows = f.clusters
	}
	w.Write(append(strconv.AppendInt(nil, rows, 10), '\n'))
}
