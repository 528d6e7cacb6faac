package parquet

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"slices"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/records"
)

// copier copies rows of Parquet files to one file. The output has the columns, compressions,
// encodings and key-value metadata of the first file. Its row groups end where those of an input
// do.
//
// Copy receives only the number of a row and, if the row is cut, the remaining parts of its text.
// The copier collects these numbers and passes them to a row group of the output (outGroup), which
// reads the rows again in a goroutine. Several row groups are made concurrently, and written in
// order.
type copier struct {
	w    footerWriter
	more []records.Column // additional columns
	//lint:ignore SA1019 GenericWriter makes Go values of rows, which panics on odd schemas
	out    *pq.Writer
	first  *file // determines the columns: CopyOptions.Like, or the file of the first row
	groups int   // row groups that were finished
	rows   int64 // rows in the current row group of the output

	src     *file      // of the rows; nil before the first row
	group   group      // row group of the input
	pending []span     // rows of group to copy
	count   int64      // number of rows in pending
	cuts    []rowCut   // the cut rows in pending, in order
	values  []pq.Value // values of more for the rows in pending, row by row

	to      *outGroup                      // the current row group of the output, nil if there is none
	running []*outGroup                    // finished but not yet written, in order of writing
	free    []*pq.ConcurrentRowGroupWriter // for reuse
}

// pendingRows is the number of rows after which they are passed on.
const pendingRows = 4096

// Limits of the row groups of an output: a file has at most 32767. After manyGroups, row groups of
// several inputs are combined up to largeGroup rows.
const (
	manyGroups = 16 << 10
	largeGroup = 128 << 10 // rows
)

func newCopier(w io.Writer, o records.CopyOptions) (_ records.Copier, err error) {
	defer unpanic(&err)
	c := &copier{w: footerWriter{w: w}, more: o.Columns}
	if f, ok := o.Like.(*file); ok {
		c.begin(f)
	}
	return c, nil
}

// Copy schedules a row for copying. After an error the copier is unusable.
func (c *copier) Copy(src records.Source, raw []byte, values ...any) (err error) {
	defer func() {
		if err != nil {
			c.abort()
		}
	}()
	defer unpanic(&err)
	pos, keep, err := parseRow(raw)
	if err != nil {
		return err
	}
	if f := src.(*file); f != c.src {
		if err := c.enter(f); err != nil {
			return err
		}
	}
	row := pos - int64(c.group.first)
	if row >= c.group.rows {
		if err := c.endGroup(); err != nil {
			return err
		}
		c.group = c.src.groups(records.Position(pos) - 1)[0]
		row = pos - int64(c.group.first)
	}
	if n := len(c.pending); n > 0 && c.pending[n-1].to == row {
		c.pending[n-1].to++
	} else {
		c.pending = append(c.pending, span{row, row + 1})
	}
	if keep != nil {
		c.cuts = append(c.cuts, rowCut{row, keep})
	}
	for i := range c.more {
		c.values = append(c.values, valueOf(values[i]))
	}
	if c.count++; c.count >= pendingRows {
		return c.handOn()
	}
	return nil
}

// enter starts copying rows of another file.
func (c *copier) enter(f *file) error {
	if err := c.leave(); err != nil {
		return err
	}
	if c.out == nil {
		c.begin(f)
	}
	f.users.Add(1)
	c.src = f
	return nil
}

// leave finishes the rows of a file and releases it.
func (c *copier) leave() error {
	err := c.endGroup()
	if c.src != nil {
		c.src.Close()
		c.src = nil
	}
	return err
}

// handOn passes the pending rows to the current row group of the output.
func (c *copier) handOn() error {
	if c.count == 0 {
		return nil
	}
	if c.to == nil {
		if err := c.writeFinished(); err != nil {
			return err
		}
		c.to = startGroup(c.writer())
	}
	c.src.users.Add(1)
	b := batch{src: c.src, group: c.group, spans: c.pending, cuts: c.cuts, more: c.values}
	c.rows += c.count
	c.pending, c.cuts, c.values, c.count = nil, nil, nil, 0
	select {
	case c.to.batches <- b:
		return nil
	case <-c.to.done: // the row group has failed
		c.src.Close()
		return c.to.err
	}
}

func (c *copier) writer() *pq.ConcurrentRowGroupWriter {
	if n := len(c.free); n > 0 {
		w := c.free[n-1]
		c.free = c.free[:n-1]
		return w
	}
	return c.out.BeginRowGroup()
}

// endGroup passes on the remaining rows of a row group of the input, and finishes the row group of
// the output.
func (c *copier) endGroup() error {
	err := c.handOn()
	c.group = group{}
	if err != nil || c.to == nil || c.groups > manyGroups && c.rows < largeGroup {
		return err
	}
	c.finishGroup()
	return nil
}

// finishGroup finishes the current row group of the output.
func (c *copier) finishGroup() {
	if c.to != nil {
		close(c.to.batches)
		c.running = append(c.running, c.to)
		c.to, c.rows = nil, 0
		c.groups++
	}
}

// writeFinished writes finished row groups until another one may be started.
func (c *copier) writeFinished() error {
	for len(c.running) >= runtime.GOMAXPROCS(0) {
		if err := c.writeGroup(); err != nil {
			return err
		}
	}
	return nil
}

// writeGroup writes the first of the finished row groups.
func (c *copier) writeGroup() error {
	g := c.running[0]
	<-g.done
	if g.err != nil {
		return g.err
	}
	c.running = c.running[1:]
	if _, err := g.w.Commit(); err != nil {
		return err
	}
	c.free = append(c.free, g.w)
	return nil
}

// abort stops all row groups in progress.
func (c *copier) abort() {
	c.finishGroup()
	for _, g := range c.running {
		g.abandon()
	}
	c.running, c.pending, c.count = nil, nil, 0
	if c.src != nil {
		c.src.Close()
		c.src = nil
	}
}

// begin makes the writer, with the columns and settings of the first file.
func (c *copier) begin(f *file) {
	options := []pq.WriterOption{
		outSchema(f, c.more), pq.CreatedBy("simdb", version.Number(), ""), pq.DictionaryMaxBytes(1 << 20), pq.PageBufferSize(pageBytes),
	}
	if slices.ContainsFunc(f.meta.RowGroups, func(g rowGroup) bool { return sizeOf(&g) > heldGroup }) {
		options = append(options, pq.ColumnPageBuffers(pageFiles{}))
	}
	for _, col := range leavesOf(f.f.Root()) {
		if !f.bounded(col) {
			options = append(options, pq.SkipPageBounds(col.Path()...))
		}
	}
	c.first = f
	c.out = pq.NewWriter(&c.w, options...)
}

// Close writes the remaining rows and the footer.
func (c *copier) Close() (err error) {
	defer func() {
		if err != nil {
			c.abort()
		}
	}()
	defer unpanic(&err)
	if err := c.leave(); err != nil {
		return err
	}
	c.finishGroup()
	for len(c.running) > 0 {
		if err := c.writeGroup(); err != nil {
			return err
		}
	}
	if c.out == nil {
		return nil
	}
	c.w.held = new(bytes.Buffer)
	if err := c.out.Close(); err != nil {
		return err
	}
	return c.w.release(c.first.likeInput)
}

// heldGroup is the largest size of row groups whose pages stay in memory.
const heldGroup = 64 << 20

// pageFiles stores the pages of a row group in temporary files until the group is complete.
type pageFiles struct{}

// GetBuffer makes a temporary file.
func (pageFiles) GetBuffer() io.ReadWriteSeeker {
	f, err := vfs.Temp("", "simdb-pages-*")
	if err != nil {
		return failed{err}
	}
	return f
}

// PutBuffer removes the temporary file.
func (pageFiles) PutBuffer(b io.ReadWriteSeeker) {
	if f, ok := b.(*os.File); ok {
		vfs.RemoveTemp(f)
	}
}

// failed is a buffer whose temporary file could not be created.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error)       { return 0, f.err }
func (f failed) Write([]byte) (int, error)      { return 0, f.err }
func (f failed) Seek(int64, int) (int64, error) { return 0, f.err }
