package output

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/display"
	"github.com/simdb/simdb/internal/printable"
)

const (
	tableChunk   = 5000     // rows held before a table is drawn
	minCell      = 4        // minimum columns of a cell, however narrow the table
	minFlexible  = 10       // minimum columns of a text cell while there are other ways to fit
	leastColumns = 2        // the first columns, which are never left out
	manyColumns  = 4        // a row with fewer columns is never turned
	maxCellRead  = 16 << 10 // bytes of a cell that are read if it will be cut to a terminal's width
)

// tableFormat draws boxed tables.
type tableFormat struct {
	o       Options
	columns []string // the columns that are drawn
	all     []string
	right   []bool // the column holds only numbers
	rigid   []bool // the column holds only numbers, fingerprints or times, which must not be cut
	cells   [][]string
	drawn   int
	dense   bool  // no blanks beside the cells
	hidden  int64 // rows beyond MaxRows
}

func (f *tableFormat) begin(_ *bufio.Writer, columns []string) {
	f.columns, f.all = columns, columns
	f.reset()
}

func (f *tableFormat) reset() {
	f.cells = f.cells[:0]
	f.right, f.rigid = make([]bool, len(f.columns)), make([]bool, len(f.columns))
	for i := range f.columns {
		f.right[i], f.rigid[i] = true, true
	}
}

func (f *tableFormat) row(w *bufio.Writer, values []any) {
	if f.o.MaxRows > 0 && f.drawn+len(f.cells) >= f.o.MaxRows {
		f.hidden++
		return
	}
	cells := make([]string, len(values))
	for i, v := range values {
		switch v.(type) {
		case int, int64, float64, nil:
		case base.Fingerprint, []base.Fingerprint, time.Time, bool:
			f.right[i] = false
		default:
			f.right[i], f.rigid[i] = false, false
		}
		cells[i] = f.cell(v)
	}
	f.cells = append(f.cells, cells)
	if len(f.cells) == tableChunk {
		f.draw(w)
	}
}

func (f *tableFormat) end(w *bufio.Writer, _ int64) {
	if len(f.cells) == 1 && f.drawn == 0 && f.hidden == 0 {
		f.turn()
	}
	if len(f.cells) > 0 || f.drawn == 0 {
		f.draw(w)
	}
	if f.hidden > 0 {
		fmt.Fprintf(w, "… and %d more\n", f.hidden)
	}
}

// cell returns the text of v without characters that control the terminal.
func (f *tableFormat) cell(v any) string {
	if x, ok := v.(float64); ok {
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
	s, isString := v.(string)
	if !isString {
		s = string(display.AppendText(nil, v))
	}
	if f.o.Width > 0 && len(s) > maxCellRead {
		s = s[:maxCellRead]
	}
	return printable.Text(s)
}

// draw draws the rows held so far as one table.
func (f *tableFormat) draw(w *bufio.Writer) {
	left := f.fit()
	bold, faint, plain := "", "", ""
	if f.o.Color {
		bold, faint, plain = "\x1b[1m", "\x1b[2m", "\x1b[0m"
	}
	columnWidths, blank := f.widths(), " "
	if f.dense {
		blank = ""
	}
	rule := func(begin, between, end string) {
		lines := make([]string, len(f.columns))
		for i, n := range columnWidths {
			lines[i] = strings.Repeat("─", n+2*len(blank))
		}
		w.WriteString(faint + begin + strings.Join(lines, between) + end + plain + "\n")
	}
	line := func(cells []string, style string) {
		for i, c := range cells {
			spaces := strings.Repeat(" ", columnWidths[i]-display.Width(c))
			if f.right[i] && len(f.cells) > 0 {
				c = spaces + c
			} else {
				c += spaces
			}
			w.WriteString(faint + "│" + plain)
			if style != "" {
				c = style + c + plain
			}
			w.WriteString(blank + c + blank)
		}
		w.WriteString(faint + "│" + plain + "\n")
	}
	rule("┌", "┬", "┐")
	line(f.columns, bold)
	rule("├", "┼", "┤")
	for _, cells := range f.cells {
		line(cells, "")
	}
	rule("└", "┴", "┘")
	if len(left) > 0 && f.drawn == 0 {
		note := "… and " + strings.Join(left, ", ") + ": the terminal is too narrow for them"
		w.WriteString(strings.Join(display.Wrap(note, f.o.Width), "\n") + "\n")
	}
	f.drawn += len(f.cells)
	f.columns = f.all
	f.reset()
}

// fit makes the table at most Width wide. It tries these in order until the table fits: write times
// to the second; cut columns of text, the widest first, down to minFlexible; drop the blanks beside
// cells; cut columns of text down to minCell; cut the names of other columns to the width of their
// cells; leave out the last columns, whose names it returns. Numbers, fingerprints and times are
// never cut, even if the first two columns alone are too wide; nor are ids that leave space for
// other columns, because the next statement needs them.
func (f *tableFormat) fit() (left []string) {
	ids, fits := []int(nil), f.fits()
	for i, c := range f.columns {
		if c == "id" || c == "a" || c == "b" {
			ids = append(ids, i)
		}
	}
	for i, c := range f.columns {
		f.rigid[i] = f.rigid[i] || slices.Contains(ids, i) && f.widest(i) <= f.o.Width/(1+len(ids))
		for _, cells := range f.cells {
			if second, _, fraction := strings.Cut(cells[i], "."); c == "time" && fraction && f.rigid[i] && !fits {
				cells[i] = second + "Z"
			}
		}
	}
	for ; !f.cutToFit() && len(f.columns) > leastColumns; left = append([]string{f.all[len(f.columns)]}, left...) {
		n := len(f.columns) - 1
		f.columns = f.columns[:n:n]
		for i, cells := range f.cells {
			f.cells[i] = cells[:n]
		}
	}
	return left
}

// cutToFit is fit without leaving out columns; it returns false if the table does not fit.
func (f *tableFormat) cutToFit() bool {
	f.dense = false
	if f.o.Width <= 0 || len(f.columns) == 0 {
		return true
	}
	columnWidths := f.widths()
	if f.fitText(columnWidths, f.o.Width-3*len(f.columns)-1, minFlexible) {
		return true
	}
	f.dense = true
	room := f.o.Width - len(f.columns) - 1
	if f.fitText(columnWidths, room, minCell) {
		return true
	}
	names := slices.Clone(f.columns)
	for i := range f.columns {
		if f.rigid[i] {
			columnWidths[i] = max(f.widest(i), minCell)
			f.cut(i, columnWidths[i])
		}
	}
	if f.fitText(columnWidths, room, minCell) {
		return true
	}
	if len(f.columns) > leastColumns {
		f.columns = names
		return false
	}
	for i := range f.columns {
		if !f.rigid[i] {
			f.cut(i, minCell)
		}
	}
	return false
}

// widths returns the widths of the columns.
func (f *tableFormat) widths() []int {
	widths := make([]int, len(f.columns))
	for i, c := range f.columns {
		widths[i] = max(display.Width(c), f.widest(i))
	}
	return widths
}

// fits reports whether the table, with blanks and lines, is at most Width wide.
func (f *tableFormat) fits() bool {
	need := 1
	for _, w := range f.widths() {
		need += 3 + w
	}
	return f.o.Width <= 0 || need <= f.o.Width
}

// widest returns the width of a column's widest cell.
func (f *tableFormat) widest(column int) int {
	w := 0
	for _, cells := range f.cells {
		w = max(w, display.Width(cells[column]))
	}
	return w
}

// fitText cuts columns of text so that all columns together are at most room columns wide. If it
// would have to cut a column to less than least, it does nothing and returns false.
func (f *tableFormat) fitText(widths []int, room, least int) bool {
	var flexible []int
	need := 0
	for i, w := range widths {
		if f.rigid[i] {
			room -= w
		} else {
			flexible = append(flexible, w)
			need += min(w, least)
		}
	}
	if room < need {
		return false
	}
	limit := columnLimit(flexible, room)
	for i, w := range widths {
		if !f.rigid[i] && w > limit {
			f.cut(i, limit)
		}
	}
	return true
}

// turn swaps the rows and columns of a table with one row, if it has at least manyColumns columns
// and they do not fit side by side. GET shows documents like this.
func (f *tableFormat) turn() {
	if f.fits() || len(f.columns) < manyColumns {
		return
	}
	var cells [][]string
	for i, cell := range f.cells[0] {
		cells = append(cells, []string{f.columns[i], cell})
	}
	f.columns = []string{"column", "value"}
	f.all = f.columns
	f.cells, f.right, f.rigid = cells, []bool{false, false}, []bool{true, false}
}

func (f *tableFormat) cut(column, width int) {
	if c := f.columns[column]; display.Width(c) > width {
		f.columns = slices.Clone(f.columns)
		f.columns[column] = display.Cut(c, width)
	}
	for _, cells := range f.cells {
		cells[column] = display.Cut(cells[column], width)
	}
}

// columnLimit returns the largest limit for which the widths, each cut to it, sum to at most total.
// It is at least minCell.
func columnLimit(widths []int, total int) int {
	sorted := slices.Sorted(slices.Values(widths))
	rest := total
	for i, w := range sorted {
		share := rest / (len(sorted) - i)
		if w > share {
			return max(share, minCell)
		}
		rest -= w
	}
	return max(total, minCell)
}
