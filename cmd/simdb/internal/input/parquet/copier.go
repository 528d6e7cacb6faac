package parquet

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
)

// copier writes rows of Parquet files to one. The output has the columns, compressions, encodings
// and key-value metadata of the first file. A row group of it ends where one of an input does.
//
// What it is given of a row is its number; it reads the rows again, column by column, when some
// have been collected.
type copier struct {
	w    io.Writer
	like input.Source // of the columns of an output without rows, nil if there is none
	//lint:ignore SA1019 GenericWriter makes Go values of rows, which panics on odd schemas, and copies have none
	out     *pq.Writer
	columns []*pq.ColumnWriter
	groups  int   // row groups that have been written
	rows    int64 // of the row group that is being written

	src     *file     // of rows, nil before the first
	group   group     // of rows
	next    int       // the groups of src before it have been copied
	cursors []*cursor // of group
	at      int64     // rows of group that cursors are past
	pending []span    // rows of group to be copied
	count   int64     // of them
	values  []pq.Value
}

// span is a run of rows in a row group, from 0.
type span struct{ from, to int64 }

// Rows are copied when this many have been collected.
const pendingRows = 4096

// Limits of the row groups of an output: a file has at most 32767. Past manyGroups, they are made
// larger than those of the inputs.
const (
	manyGroups = 16 << 10
	largeGroup = 128 << 10 // rows
)

func newCopier(w io.Writer, o input.CopyOptions) input.Copier { return &copier{w: w, like: o.Like} }

// unpanic makes an error of a panic of the writer, which a damaged schema or level may cause.
func unpanic(err *error) {
	if v := recover(); v != nil {
		*err = panicked(v)
	}
}

// Copy notes a row for copying.
func (c *copier) Copy(src input.Source, raw []byte) (err error) {
	defer unpanic(&err)
	pos, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no row: %w", raw, err)
	}
	f := src.(*file)
	if f != c.src {
		if err := c.enter(f); err != nil {
			return err
		}
	}
	row := pos - int64(c.group.first)
	if row >= c.group.rows {
		if err := c.seek(input.Position(pos)); err != nil {
			return err
		}
		row = pos - int64(c.group.first)
	}
	if n := len(c.pending); n > 0 && c.pending[n-1].to == row {
		c.pending[n-1].to++
	} else {
		c.pending = append(c.pending, span{row, row + 1})
	}
	if c.count++; c.count >= pendingRows {
		return c.flush()
	}
	return nil
}

// enter begins with the rows of another file.
func (c *copier) enter(f *file) error {
	if err := c.leave(); err != nil {
		return err
	}
	if c.out == nil {
		if err := c.begin(f); err != nil {
			return err
		}
	}
	f.users.Add(1)
	c.src, c.next = f, 0
	return nil
}

// leave copies what is left of a file and gives it back.
func (c *copier) leave() error {
	err := c.endGroup()
	if c.src != nil {
		c.src.Close()
		c.src = nil
	}
	return err
}

// seek goes on to the row group that has a position.
func (c *copier) seek(pos input.Position) error {
	if err := c.endGroup(); err != nil {
		return err
	}
	for _, g := range c.src.groups(pos - 1)[:1] {
		c.group = g
	}
	return nil
}

// endGroup copies what is left of a row group, and ends that of the output.
func (c *copier) endGroup() error {
	err := c.flush()
	for _, cur := range c.cursors {
		cur.close()
	}
	c.cursors, c.at, c.group = nil, 0, group{}
	if err != nil || c.rows == 0 || c.groups > manyGroups && c.rows < largeGroup {
		return err
	}
	c.groups, c.rows = c.groups+1, 0
	return c.out.Flush()
}

// begin makes the writer, with what the first file has.
func (c *copier) begin(f *file) error {
	if err := c.checkTypes(f); err != nil {
		return &input.ReadError{File: f.info.Name, Pos: input.NoPosition, Err: err}
	}
	options := []pq.WriterOption{
		f.f.Schema(), pq.CreatedBy("simdb", version(), ""), pq.DictionaryMaxBytes(1 << 20), pq.PageBufferSize(1 << 20),
	}
	meta := f.f.Metadata()
	if slices.ContainsFunc(meta.RowGroups, func(g format.RowGroup) bool { return sizeOf(&g) > heldGroup }) {
		options = append(options, pq.ColumnPageBuffers(pageFiles{}))
	}
	for _, kv := range meta.KeyValueMetadata {
		options = append(options, pq.KeyValueMetadata(kv.Key, kv.Value))
	}
	for _, text := range append([]*pq.Column{f.layout.roles.text}, f.layout.roles.texts...) {
		if text != nil { // whole texts are of no use as statistics
			options = append(options, pq.SkipPageBounds(text.Path()...))
		}
	}
	c.out = pq.NewWriter(c.w, options...)
	c.columns = c.out.ColumnWriters()
	return nil
}

// version is that of simdb, for the footer.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return info.Main.Version[1:]
	}
	return "0.0.0"
}

// checkTypes refuses columns that would not be written as they are.
func (c *copier) checkTypes(f *file) error {
	leaves := leavesOf(f.f.Root())
	schema := f.f.Metadata().Schema
	for i := range schema {
		e := &schema[i]
		if !e.Type.Valid {
			continue
		}
		col := leaves[0]
		leaves = leaves[1:]
		lt, written := e.LogicalType, col.Type().LogicalType()
		if lt.Value != nil && (written == nil || written.String() != lt.String()) {
			return fmt.Errorf("the column %q is of type %v, which cannot be written: leave it out of the file", pathOf(col), &lt)
		}
		if kind := format.Type(col.Type().Kind()); kind != e.Type.V {
			return fmt.Errorf("the column %q is of type %v, which cannot be written: leave it out of the file", pathOf(col), e.Type.V)
		}
	}
	return nil
}

// flush copies the pending rows.
func (c *copier) flush() (err error) {
	if c.count == 0 {
		return nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
		if err != nil {
			err = &input.ReadError{File: c.src.info.Name, Pos: c.group.first + input.Position(c.at) - 1, Unit: unit, Err: err}
		}
	}()
	if c.cursors == nil {
		if err := c.openCursors(); err != nil {
			return err
		}
	}
	for i, cur := range c.cursors {
		at := c.at
		for _, s := range c.pending {
			if err := cur.skipRows(s.from - at); err != nil {
				return err
			}
			if err := c.column(c.columns[i], cur, s.to-s.from); err != nil {
				return err
			}
			at = s.to
		}
	}
	c.at = c.pending[len(c.pending)-1].to
	c.rows += c.count
	c.pending, c.count = c.pending[:0], 0
	return nil
}

// openCursors opens all columns of the row group.
func (c *copier) openCursors() error {
	f := c.src.f
	meta := f.Metadata().RowGroups[c.group.number]
	for _, col := range leavesOf(f.Root()) {
		cur, err := openCursor(f, &meta.Columns[col.Index()].MetaData, c.group.number, col)
		if err != nil {
			return err
		}
		cur.keep = true
		c.cursors = append(c.cursors, cur)
	}
	return nil
}

// Values are written when there are this many of them, or bytes in them.
const (
	writeValues = 256
	writeBytes  = 256 << 10
)

// column copies rows of a column.
func (c *copier) column(to *pq.ColumnWriter, cur *cursor, rows int64) error {
	size := 0
	c.values = c.values[:0]
	for ; rows > 0; rows-- {
		v, err := cur.next()
		if err != nil {
			return err
		}
		c.values = append(c.values, v)
		if err := cur.restOfRow(&c.values); err != nil {
			return err
		}
		if v.Kind() == pq.ByteArray {
			size += len(v.ByteArray())
		}
		if rows == 1 || len(c.values) >= writeValues || size >= writeBytes {
			if _, err := to.WriteRowValues(c.values); err != nil {
				return err
			}
			clear(c.values)
			c.values, size = c.values[:0], 0
		}
	}
	return nil
}

// Close writes the rows that are left, and the footer.
func (c *copier) Close() (err error) {
	defer unpanic(&err)
	if err := c.leave(); err != nil {
		return err
	}
	if f, ok := c.like.(*file); ok && c.out == nil {
		if err := c.begin(f); err != nil {
			return err
		}
	}
	if c.out == nil {
		return nil
	}
	return c.out.Close()
}

// heldGroup is the size of row groups up to which their pages are kept in memory.
const heldGroup = 64 << 20

// pageFiles keeps the pages of a row group in temporary files until the group is complete.
type pageFiles struct{}

// GetBuffer makes a temporary file.
func (pageFiles) GetBuffer() io.ReadWriteSeeker {
	f, err := os.CreateTemp("", "simdb-pages-*")
	if err != nil {
		return failed{err}
	}
	os.Remove(f.Name()) // where open files can be removed, it is gone even if the process is killed
	return f
}

// PutBuffer removes it.
func (pageFiles) PutBuffer(b io.ReadWriteSeeker) {
	if f, ok := b.(*os.File); ok {
		f.Close()
		os.Remove(f.Name())
	}
}

// failed is a temporary file that could not be made.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error)       { return 0, f.err }
func (f failed) Write([]byte) (int, error)      { return 0, f.err }
func (f failed) Seek(int64, int) (int64, error) { return 0, f.err }
