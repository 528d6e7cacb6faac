package output

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/simdb/simdb/internal/base"
)

const (
	tableChunk  = 5000     // rows held before a table is drawn
	minCell     = 4        // columns of the terminal that a cell keeps, however narrow the table is
	minFlexible = 10       // columns that a cell of text keeps while other ways to fit remain
	manyColumns = 4        // a row of fewer columns is never turned
	maxCellRead = 16 << 10 // bytes of a cell that are read if it will be cut to a terminal's width
)

// tableFormat draws boxed tables.
type tableFormat struct {
	o       Options
	columns []string
	right   []bool // the column holds numbers only
	rigid   []bool // the column holds numbers, fingerprints or times only, which must not be cut
	cells   [][]string
	drawn   int
	dense   bool  // without blanks beside the cells
	hidden  int64 // rows beyond MaxRows
}

func (f *tableFormat) begin(_ *bufio.Writer, columns []string) {
	f.columns = columns
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
		s = string(appendText(nil, v))
	}
	if f.o.Width > 0 && len(s) > maxCellRead {
		s = s[:maxCellRead]
	}
	return Printable(s)
}

// draw draws the rows that are held as one table.
func (f *tableFormat) draw(w *bufio.Writer) {
	f.fit()
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Format.HeaderAlign = text.AlignDefault
	if f.o.Color {
		text.EnableColors() // on Windows the package writes none by itself unless stdout is a console
		style.Color.Header = text.Colors{text.Bold}
		style.Color.Border = text.Colors{text.Faint}
		style.Color.Separator = text.Colors{text.Faint}
	}
	if f.dense {
		style.Box.PaddingLeft, style.Box.PaddingRight = "", ""
	}
	t.SetStyle(style)
	configs := make([]table.ColumnConfig, len(f.columns))
	for i := range f.columns {
		configs[i].Number = i + 1
		if f.right[i] && len(f.cells) > 0 {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(tableRow(f.columns))
	for _, cells := range f.cells {
		t.AppendRow(tableRow(cells))
	}
	w.WriteString(t.Render())
	w.WriteByte('\n')
	f.drawn += len(f.cells)
	f.reset()
}

// fit makes the table at most Width wide, by the first of these that suffices: cut columns of
// text, the widest first, down to minFlexible; drop the blanks beside cells; cut columns of text
// down to minCell; cut the names of other columns to the width of their cells. Numbers,
// fingerprints and times are never cut, even if the table stays too wide.
func (f *tableFormat) fit() {
	f.dense = false
	if f.o.Width <= 0 || len(f.columns) == 0 {
		return
	}
	widths := make([]int, len(f.columns))
	for i, c := range f.columns {
		widths[i] = max(text.StringWidth(c), f.widest(i))
	}
	if f.fitText(widths, f.o.Width-3*len(f.columns)-1, minFlexible) {
		return
	}
	f.dense = true
	room := f.o.Width - len(f.columns) - 1
	if f.fitText(widths, room, minCell) {
		return
	}
	for i := range f.columns {
		if f.rigid[i] {
			widths[i] = max(f.widest(i), minCell)
			f.cut(i, widths[i])
		}
	}
	if !f.fitText(widths, room, minCell) {
		for i := range f.columns {
			if !f.rigid[i] {
				f.cut(i, minCell)
			}
		}
	}
}

// widest returns the width of a column's widest cell.
func (f *tableFormat) widest(column int) int {
	w := 0
	for _, cells := range f.cells {
		w = max(w, text.StringWidth(cells[column]))
	}
	return w
}

// fitText cuts columns of text so that all columns together are at most room columns wide. If it
// would have to cut them below least, it does nothing and returns false.
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

// turn makes the columns of a table of one row its rows, if there are at least manyColumns and they
// do not fit side by side. So GET shows a document.
func (f *tableFormat) turn() {
	need := 1
	for i, cell := range f.cells[0] {
		need += 3 + max(text.StringWidth(f.columns[i]), text.StringWidth(cell))
	}
	if f.o.Width <= 0 || need <= f.o.Width || len(f.columns) < manyColumns {
		return
	}
	var cells [][]string
	for i, cell := range f.cells[0] {
		cells = append(cells, []string{f.columns[i], cell})
	}
	f.columns = []string{"column", "value"}
	f.cells, f.right, f.rigid = cells, []bool{false, false}, []bool{true, false}
}

// cut cuts a column to a width.
func (f *tableFormat) cut(column, width int) {
	if c := f.columns[column]; text.StringWidth(c) > width {
		f.columns = slices.Clone(f.columns)
		f.columns[column] = Cut(c, width)
	}
	for _, cells := range f.cells {
		cells[column] = Cut(cells[column], width)
	}
}

// columnLimit returns the largest limit for which the widths, each cut to it, sum to at most
// total. It is at least minCell.
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

func tableRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, c := range cells {
		row[i] = c
	}
	return row
}
