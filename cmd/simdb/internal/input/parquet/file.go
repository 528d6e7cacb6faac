package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
)

// Parquet is the name of the format.
const Parquet input.Format = "parquet"

const unit = "row"

func init() {
	input.Register(input.Family{
		Formats:   []input.Description{{Name: Parquet, Label: "Parquet", Unit: unit, Endings: []string{".parquet", ".parq", ".pq"}, Whole: true}},
		Detect:    detect,
		Open:      open,
		NewCopier: newCopier,
	})
}

// detect recognises Parquet by its first bytes or its name.
func detect(in *input.Stream, _ input.Options) bool {
	ending := strings.ToLower(filepath.Ext(in.Name()))
	return slices.Contains(Parquet.Describe().Endings, ending) || hasMagic(in)
}

// hasMagic reports whether an input begins as Parquet does.
func hasMagic(in *input.Stream) bool {
	head, _ := in.Head()
	return bytes.HasPrefix(head, []byte(magic)) || bytes.HasPrefix(head, []byte("PARE"))
}

// file is the Source of a Parquet file.
type file struct {
	in     *input.Stream
	opt    input.Options
	info   input.Info
	f      *pq.File
	layout layout
	used   []*pq.Column // the leaf columns that are read

	bytes int64        // of the row groups
	done  atomic.Int64 // of them, read
	users atomic.Int32 // the caller, and the Copier while it has rows to copy
}

// open reads the footer.
func open(in *input.Stream, opt input.Options) (_ input.Source, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	if in.Packed() {
		return nil, errors.New("it is Parquet that is compressed once more: decompress it to a file (Parquet compresses its own pages)")
	}
	if opt.Delimiter != 0 {
		return nil, errors.New("a delimiter is for csv, not for parquet")
	}
	f := &file{in: in, opt: opt}
	if !hasMagic(in) {
		return nil, errors.New("it is no Parquet file, which begins with PAR1; --format names another format")
	}
	r, size, err := in.ReaderAt()
	if err != nil {
		return nil, err
	}
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	f.f, err = pq.OpenFile(r, size, pq.SkipPageIndex(true), pq.SkipBloomFilters(true), pq.ReadBufferSize(64<<10))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errThrift, err)
	}
	if err := f.choose(); err != nil {
		return nil, err
	}
	f.users.Store(1)
	return f, nil
}

// choose finds the columns that are read.
func (f *file) choose() error {
	root := f.f.Root()
	f.info = input.Info{Name: f.in.Name(), Format: Parquet, Shape: "Parquet", Columns: shapeOf(root)}
	roles, err := newRoles(root, f.opt)
	if err != nil {
		return err
	}
	f.info.FingerprintsOnly = roles.text == nil
	f.layout = layout{name: f.info.Name, roles: roles, makeID: f.opt.MakeID, notation: f.opt.Fingerprints}
	if roles.id != nil && !isText(roles.id) {
		f.layout.formatID = unquoted(formatterOf(roles.id.Type()))
	}
	var taken []int
	for _, col := range []*pq.Column{roles.id, roles.text, roles.fp} {
		if col != nil && !slices.Contains(taken, col.Index()) {
			taken = append(taken, col.Index())
			f.used = append(f.used, col)
		}
	}
	if len(taken) < count(roles) {
		return errors.New("the id, the text and the fingerprint must be different columns")
	}
	if fields := newTree(root, taken); !fields.skip {
		f.layout.fields = fields
		for _, leaf := range leavesOf(root) {
			if !slices.Contains(taken, leaf.Index()) {
				f.used = append(f.used, leaf)
			}
		}
	}
	groups := f.f.Metadata().RowGroups
	for i := range groups {
		f.bytes += sizeOf(&groups[i])
	}
	return f.checkCodecs()
}

// count is how many roles have a column.
func count(r roles) (n int) {
	for _, col := range []*pq.Column{r.id, r.text, r.fp} {
		if col != nil {
			n++
		}
	}
	return n
}

// unquoted formats an ID: a JSON string without its quotes.
func unquoted(f formatter) formatter {
	return func(b []byte, v pq.Value) []byte {
		return bytes.Trim(f(b, v), `"`)
	}
}

// leavesOf returns the leaf columns below a column.
func leavesOf(col *pq.Column) (leaves []*pq.Column) {
	if col.Leaf() && col.Index() >= 0 {
		return []*pq.Column{col}
	}
	for _, c := range col.Columns() {
		leaves = append(leaves, leavesOf(c)...)
	}
	return leaves
}

// checkCodecs refuses compressions that cannot be read, and LZ4_RAW: parquet-go v0.32.0 loses what
// it decodes of a page that has not been compressed to a third, and doubles its buffer without end
// for a damaged one.
func (f *file) checkCodecs() error {
	for _, g := range f.f.Metadata().RowGroups {
		for _, col := range f.used {
			codec := g.Columns[col.Index()].MetaData.Codec
			if codec == format.Lz4Raw || pq.LookupCompressionCodec(codec).String() == "UNSUPPORTED" {
				return fmt.Errorf("the column %q is compressed with %v, which is not read: write the file with zstd or snappy", pathOf(col), codec)
			}
		}
	}
	return nil
}

// Info describes the file.
func (f *file) Info() input.Info { return f.info }

// Progress returns how much of the file has been read, by the size of the row groups.
func (f *file) Progress() (done, size int64) {
	read, size := f.in.Progress()
	if size < 0 || f.bytes == 0 {
		return read, size
	}
	return int64(float64(size) * min(1, float64(f.done.Load())/float64(f.bytes))), size
}

// Close closes the file, unless a Copier still reads it: then that does.
func (f *file) Close() error {
	if f.users.Add(-1) > 0 {
		return nil
	}
	f.in.Release()
	return f.in.Close()
}

// group is a row group.
type group struct {
	number int // from 0
	first  input.Position
	rows   int64
}

// groups returns the row groups with rows after a position.
func (f *file) groups(after input.Position) (list []group) {
	first := input.Position(1)
	for i, g := range f.f.Metadata().RowGroups {
		if g.NumRows > 0 && first+input.Position(g.NumRows) > after+1 {
			list = append(list, group{i, first, g.NumRows})
		}
		first += input.Position(g.NumRows)
	}
	return list
}

// Sizes of batches, which go from the goroutine that reads a row group to the caller.
const (
	batchRows  = 512
	batchBytes = 512 << 10
	batches    = 8 // of a row group, that wait
)

// outcome is a record, what is wrong with one, or the error that ends the reading.
type outcome struct {
	rec   *input.Record
	issue *input.Issue
	err   error
}

// Records yields the rows of the file in order.
func (f *file) Records(ctx context.Context) iter.Seq2[*input.Record, error] {
	return func(yield func(*input.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if err := f.settle(ctx); err != nil {
			yield(nil, err)
			return
		}
		workers := f.opt.Workers
		if workers <= 0 {
			workers = runtime.GOMAXPROCS(0)
		}
		rest := f.groups(f.opt.After)
		var running []<-chan []outcome
		for {
			for len(running) < workers && len(rest) > 0 {
				running = append(running, f.start(ctx, rest[0]))
				rest = rest[1:]
			}
			if len(running) == 0 || !deliver(ctx, running[0], yield) {
				return
			}
			running = running[1:]
		}
	}
}

// deliver yields what a row group has. It reports whether there is more to read.
func deliver(ctx context.Context, from <-chan []outcome, yield func(*input.Record, error) bool) bool {
	for {
		var batch []outcome
		ok := false
		select {
		case batch, ok = <-from:
		case <-ctx.Done():
		}
		if err := context.Cause(ctx); err != nil {
			yield(nil, err)
			return false
		}
		if !ok {
			return true
		}
		for _, o := range batch {
			switch {
			case o.err != nil:
				yield(nil, o.err)
				return false
			case o.issue != nil:
				if !yield(nil, o.issue) {
					return false
				}
			case !yield(o.rec, nil):
				return false
			}
		}
	}
}

// start reads a row group in a goroutine, until ctx ends.
func (f *file) start(ctx context.Context, g group) <-chan []outcome {
	to := make(chan []outcome, batches)
	f.users.Add(1)
	go func() {
		defer f.Close()
		defer close(to)
		send := func(batch []outcome) bool {
			select {
			case to <- batch:
				return true
			case <-ctx.Done():
				return false
			}
		}
		pos, err := f.readGroup(g, send)
		if err != nil && ctx.Err() == nil {
			send([]outcome{{err: &input.ReadError{File: f.info.Name, Pos: pos, Unit: unit, Err: err}}})
		}
	}()
	return to
}

// readGroup sends the rows of a row group in batches, while send returns true. It returns the last
// position that was read and why no further.
func (f *file) readGroup(g group, send func([]outcome) bool) (pos input.Position, err error) {
	pos = g.first - 1
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	r := rowReader{layout: &f.layout, cursors: make([]*cursor, len(leavesOf(f.f.Root())))}
	defer func() {
		for _, c := range r.used {
			c.close()
		}
	}()
	meta := f.f.Metadata().RowGroups[g.number]
	for _, col := range f.used {
		c, err := openCursor(f.f, &meta.Columns[col.Index()].MetaData, g.number, col)
		if err != nil {
			return pos, err
		}
		r.cursors[col.Index()] = c
		r.used = append(r.used, c)
	}
	if skip := int64(f.opt.After - pos); skip > 0 {
		for _, c := range r.used {
			if err := c.skipRows(skip); err != nil {
				return pos, err
			}
		}
		pos += input.Position(skip)
	}
	size := float64(sizeOf(&meta))
	return r.batches(pos, g, func(batch []outcome) bool {
		f.done.Add(int64(size * float64(len(batch)) / float64(g.rows)))
		return send(batch)
	})
}

// sizeOf is the size of a row group in the file.
func sizeOf(g *format.RowGroup) (n int64) {
	for i := range g.Columns {
		n += max(g.Columns[i].MetaData.TotalCompressedSize, 0)
	}
	return n
}

// batches sends the rows of a group after a position. Rows before damage are sent too.
func (r *rowReader) batches(pos input.Position, g group, send func([]outcome) bool) (input.Position, error) {
	end := g.first + input.Position(g.rows) - 1
	for pos < end {
		var batch []outcome
		size := 0
		for pos < end && len(batch) < batchRows && size < batchBytes {
			rec, issue, err := r.read(pos + 1)
			if err != nil {
				send(batch)
				return pos, err
			}
			pos++
			size += r.size
			batch = append(batch, outcome{rec: rec, issue: issue})
		}
		if !send(batch) {
			return pos, nil
		}
	}
	for _, c := range r.used {
		v, err := c.peek()
		if err != nil {
			return pos, err
		}
		if v != nil {
			return pos, c.fail(errors.New("damaged: it has more values than its row group has rows"))
		}
	}
	return pos, nil
}
