package parquet

import (
	"errors"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"
)

// errShort reports a column that ends before its row group.
var errShort = errors.New("damaged: it has fewer values than its row group has rows")

// cursorValues is the number of values that a cursor decodes at a time.
const cursorValues = 128

// A cursor yields the values of one column of a row group in order. Values are valid until the
// cursor has advanced by two pages or is closed.
type cursor struct {
	name  string
	pages pq.Pages
	page  pq.Page // the page being read, or nil
	from  pq.ValueReader
	buf   []pq.Value // decoded values that were not yet returned
	all   [cursorValues]pq.Value
	ended bool

	// keep leaves pages to the garbage collector, because values of several pages are used at once.
	keep bool
}

func (f *file) openCursor(group int, col *pq.Column) (*cursor, error) {
	c := &cursor{name: pathOf(col)}
	from, err := newPages(f.r, f.size, &f.meta.RowGroups[group].Columns[col.Index()].MetaData, col)
	if err != nil {
		return nil, c.fail(err)
	}
	c.pages = f.f.RowGroups()[group].ColumnChunks()[col.Index()].(*pq.FileColumnChunk).PagesFrom(from)
	return c, nil
}

func (c *cursor) fail(err error) error { return fmt.Errorf("column %q: %w", c.name, err) }

// peek returns the next value, or nil at the end of the row group.
func (c *cursor) peek() (*pq.Value, error) {
	for len(c.buf) == 0 {
		if c.ended {
			return nil, nil
		}
		if err := c.fill(); err != nil {
			return nil, c.fail(err)
		}
	}
	return &c.buf[0], nil
}

// fill decodes more values, from the next page if the current one has none left.
func (c *cursor) fill() error {
	if c.page == nil {
		page, err := c.pages.ReadPage()
		if err == io.EOF {
			c.ended = true
			return nil
		}
		if err != nil {
			return err
		}
		c.page, c.from = page, page.Values()
	}
	n, err := c.from.ReadValues(c.all[:])
	c.buf = c.all[:n]
	switch {
	case n > 0:
		return nil
	case err == io.EOF:
		c.drop()
		return nil
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

// drop releases the page.
func (c *cursor) drop() {
	if c.page != nil && !c.keep {
		pq.Release(c.page)
	}
	c.page, c.from = nil, nil
}

func (c *cursor) next() (pq.Value, error) {
	v, err := c.peek()
	if err != nil {
		return pq.Value{}, err
	}
	if v == nil {
		return pq.Value{}, c.fail(errShort)
	}
	c.buf = c.buf[1:]
	return *v, nil
}

// skipRows skips the values of whole rows.
func (c *cursor) skipRows(rows int64) error {
	for ; rows > 0; rows-- {
		if _, err := c.next(); err != nil {
			return err
		}
		if err := c.restOfRow(nil); err != nil {
			return err
		}
	}
	return nil
}

// restOfRow skips the remaining values of a row after its first one. If to is not nil, it appends
// them to it.
func (c *cursor) restOfRow(to *[]pq.Value) error {
	for {
		v, err := c.peek()
		if err != nil {
			return err
		}
		if v == nil || v.RepetitionLevel() == 0 {
			return nil
		}
		if to != nil {
			*to = append(*to, *v)
		}
		c.buf = c.buf[1:]
	}
}

// close ends the reading.
func (c *cursor) close() {
	c.drop()
	c.pages.Close()
}
