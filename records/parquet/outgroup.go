package parquet

import (
	"runtime/debug"
	"sync/atomic"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/records"
)

// outGroup is a row group of an output, which a goroutine fills with rows that it reads again,
// column by column.
type outGroup struct {
	w       *pq.ConcurrentRowGroupWriter
	batches chan batch
	dropped atomic.Bool   // it will not be written, so its rows need not be read
	done    chan struct{} // is closed when all batches have been copied, or one could not be
	err     error         // why not; to be read after done

	// Of the goroutine:
	src     *file // of the cursors, nil for none
	group   group
	cursors []*cursor // of all columns of group
	at      int64     // rows of group that they are past
	sizes   []int     // bytes of the strings of the page that is being made, of each column
	values  []pq.Value
}

// batch is rows of a row group. It has a use of its source, which who receives it gives back.
type batch struct {
	src   *file
	group group
	spans []span
	cuts  []rowCut   // of rows of spans, in order
	more  []pq.Value // of further columns, row by row
}

// waitingBatches is how many batches of an outGroup may wait, so that the next one is begun while
// it is being filled.
const waitingBatches = 256

// startGroup begins to fill a row group. The sender closes batches at its end.
func startGroup(w *pq.ConcurrentRowGroupWriter) *outGroup {
	g := &outGroup{w: w, batches: make(chan batch, waitingBatches), done: make(chan struct{})}
	go func() {
		defer close(g.done)
		for b := range g.batches {
			if g.err == nil && !g.dropped.Load() {
				g.err = g.copy(b)
			}
			b.src.Close()
			if g.err != nil {
				break
			}
		}
		g.leave()
		if g.err == nil {
			g.err = g.flush()
		}
	}()
	return g
}

// abandon ends a row group of which all batches have been sent. It will not be written.
func (g *outGroup) abandon() {
	g.dropped.Store(true)
	<-g.done
	for b := range g.batches { // after an error
		b.src.Close()
	}
}

// flush encodes what is left.
func (g *outGroup) flush() (err error) {
	defer unpanic(&err)
	return g.w.Flush()
}

// leave closes the cursors, and gives their file back.
func (g *outGroup) leave() {
	for _, cur := range g.cursors {
		cur.close()
	}
	if g.src != nil {
		g.src.Close()
	}
	g.cursors, g.src, g.at, g.group = nil, nil, 0, group{}
}

// copy copies rows.
func (g *outGroup) copy(b batch) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
		if err != nil {
			err = &records.ReadError{File: b.src.info.Name, Pos: b.group.first + records.Position(g.at) - 1, Unit: unit, Err: err}
		}
	}()
	if b.src != g.src || b.group != g.group {
		g.leave()
		b.src.users.Add(1)
		g.src, g.group = b.src, b.group
		if err := g.openCursors(); err != nil {
			return err
		}
	}
	columns := g.w.ColumnWriters()
	if g.sizes == nil {
		g.sizes = make([]int, len(columns))
	}
	for i, cur := range g.cursors {
		at := g.at
		var cuts []rowCut
		if text := g.src.roles.text; text != nil && text.Index() == i {
			cuts = b.cuts
		}
		for _, s := range b.spans {
			if err := cur.skipRows(s.from - at); err != nil {
				return err
			}
			if err := g.column(columns[i], &g.sizes[i], cur, s, &cuts); err != nil {
				return err
			}
			at = s.to
		}
	}
	g.at = b.spans[len(b.spans)-1].to
	return g.further(columns[len(g.cursors):], b.more)
}

// further writes the values of further columns, which are given row by row.
func (g *outGroup) further(columns []*pq.ColumnWriter, rows []pq.Value) error {
	for i, to := range columns {
		g.values = g.values[:0]
		for row := i; row < len(rows); row += len(columns) {
			v := rows[row]
			defined := 1
			if v.IsNull() {
				defined = 0
			}
			g.values = append(g.values, v.Level(0, defined, len(g.cursors)+i))
		}
		if _, err := to.WriteRowValues(g.values); err != nil {
			return err
		}
	}
	clear(g.values)
	return nil
}

// openCursors opens all columns of the row group.
func (g *outGroup) openCursors() error {
	for _, col := range leavesOf(g.src.f.Root()) {
		cur, err := g.src.openCursor(g.group.number, col)
		if err != nil {
			return err
		}
		cur.keep = true
		g.cursors = append(g.cursors, cur)
	}
	return nil
}

// Values are written when there are this many of them, or bytes in them.
const (
	writeValues = 256
	writeBytes  = 256 << 10
)

// pageBytes is the size of pages. Only at the end of a page does the writer see whether a column
// has grown out of its dictionary, and a page of a dictionary holds numbers alone; so pages are
// ended by the size of their strings.
const pageBytes = 1 << 20

// column copies rows of a column. page is the size of the strings in its page. It takes from cuts
// those of these rows.
func (g *outGroup) column(to *pq.ColumnWriter, page *int, cur *cursor, rows span, cuts *[]rowCut) error {
	size := 0
	g.values = g.values[:0]
	for row := rows.from; row < rows.to; row++ {
		v, err := cur.next()
		if err != nil {
			return err
		}
		if len(*cuts) > 0 && (*cuts)[0].row == row {
			v = cutValue(v, (*cuts)[0].keep)
			*cuts = (*cuts)[1:]
		}
		g.values = append(g.values, v)
		if err := cur.restOfRow(&g.values); err != nil {
			return err
		}
		if v.Kind() == pq.ByteArray {
			size += len(v.ByteArray())
		}
		if row+1 < rows.to && len(g.values) < writeValues && size < writeBytes {
			continue
		}
		if _, err := to.WriteRowValues(g.values); err != nil {
			return err
		}
		clear(g.values)
		if *page += size; *page >= pageBytes {
			*page = 0
			if err := to.Flush(); err != nil {
				return err
			}
		}
		g.values, size = g.values[:0], 0
	}
	return nil
}

// span is a run of rows in a row group, from 0.
type span struct{ from, to int64 }

// unpanic makes an error of a panic of the writer, which a damaged schema or level may cause.
func unpanic(err *error) {
	if v := recover(); v != nil {
		*err = panicked(v)
	}
}
