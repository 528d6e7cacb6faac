package parquet

import (
	"runtime/debug"
	"sync/atomic"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/records"
)

// outGroup is a row group of an output. A goroutine fills it column by column, with rows that it
// reads again.
type outGroup struct {
	w       *pq.ConcurrentRowGroupWriter
	batches chan batch
	dropped atomic.Bool   // the group will not be written, so its rows need not be read
	done    chan struct{} // closed after all batches have been copied, or after an error
	err     error         // may be read after done is closed

	// Owned by the goroutine:
	src     *file // file of the cursors, or nil
	group   group
	cursors []*cursor // one for each column of group
	at      int64     // row of group at which the cursors are
	sizes   []int     // bytes of strings in the current page, by column
	values  []pq.Value
}

// batch is a set of rows of a row group. It holds a reference to its source, which the receiver
// releases.
type batch struct {
	src   *file
	group group
	spans []span
	cuts  []rowCut   // cuts of the rows in spans, in order
	more  []pq.Value // values of additional columns, row by row
}

// waitingBatches is the capacity of the channel of an outGroup. It lets the next row group start
// while this one is being filled.
const waitingBatches = 256

// startGroup starts to fill a row group. The sender closes batches at its end.
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

// abandon stops a row group after its batches have been sent. The group will not be written.
func (g *outGroup) abandon() {
	g.dropped.Store(true)
	<-g.done
	for b := range g.batches { // left over after an error
		b.src.Close()
	}
}

// flush encodes the remaining values.
func (g *outGroup) flush() (err error) {
	defer unpanic(&err)
	return g.w.Flush()
}

// leave closes the cursors and releases their file.
func (g *outGroup) leave() {
	for _, cur := range g.cursors {
		cur.close()
	}
	if g.src != nil {
		g.src.Close()
	}
	g.cursors, g.src, g.at, g.group = nil, nil, 0, group{}
}

// copy copies the rows of a batch.
func (g *outGroup) copy(b batch) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if err != nil {
			err = &records.ReadError{File: b.src.info.Name, Pos: b.group.first + records.Position(g.at) - 1, Unit: unit, Err: err}
		}
	}()
	defer unpanic(&err)
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
		if text := g.src.roles.text(); text != nil && text.Index() == i {
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

// further writes the values of additional columns, which are given row by row.
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

// openCursors opens a cursor for each column of the row group.
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

// Values are written once there are this many values, or this many bytes in them.
const (
	writeValues = 256
	writeBytes  = 256 << 10
)

// pageBytes is the size of a full page. Only at the end of a page does the writer notice that a
// column has outgrown its dictionary. Pages with a dictionary contain only small numbers, so the
// size is that of their strings.
const pageBytes = 1 << 20

// column copies rows of a column. page counts the bytes of strings in its current page. column
// removes the cuts of these rows from cuts.
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

// span is a range of rows in a row group, counted from 0.
type span struct{ from, to int64 }

// unpanic turns a panic of the writer into an error. A damaged schema or level may cause one.
func unpanic(err *error) {
	if v := recover(); v != nil {
		*err = panicked(v)
	}
}
