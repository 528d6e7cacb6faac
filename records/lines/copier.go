package lines

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/simdb/simdb/records"
)

// copier copies records byte for byte, after the header of the first record's file.
type copier struct {
	w       io.Writer
	follow  bool
	like    records.Source // gives the header of an output without records; or nil
	columns []records.Column
	json    *copyJSON      // for records that are not lines; nil otherwise
	begun   bool           // the header has been written
	partial bool           // the last record has no newline
	last    records.Source // of the last record, if records have several lines
	closed  bool           // the last record ends with a separator
}

func newCopier(w io.Writer, o records.CopyOptions) (records.Copier, error) {
	c := &copier{w: w, follow: o.Follow, like: o.Like, columns: o.Columns}
	if o.Like != nil && o.Like.Info().Format == JSON && !o.Bare {
		c.json = newCopyJSON(w, o.Like.Info().Shape)
	}
	return c, nil
}

// Copy writes a record.
func (c *copier) Copy(src records.Source, raw []byte, values ...any) (err error) {
	if len(c.columns) > 0 {
		if raw, err = extend(src, raw, c.columns, values); err != nil {
			return err
		}
	}
	if c.json != nil {
		return c.json.value(raw)
	}
	if err := c.begin(src); err != nil {
		return err
	}
	if f, ok := src.(*file); ok && f.group != nil {
		first, _, _ := bytes.Cut(raw, newline)
		if c.last != nil && c.last != src && !c.closed && !f.group.separates(first) {
			err = c.write(f.group.between)
		}
		last := bytes.TrimSuffix(raw, newline)
		c.last, c.closed = src, len(last) < len(raw) && f.group.separates(last[bytes.LastIndexByte(last, '\n')+1:])
	}
	return errors.Join(err, c.write(raw))
}

// begin writes the header, unless that has been done.
func (c *copier) begin(src records.Source) error {
	if c.begun {
		return nil
	}
	c.begun = true
	header := src.Info().Columns
	if len(c.columns) > 0 && header != nil {
		header = extendHeader(src, c.columns)
	}
	return c.write(header)
}

// write writes a line. If the previous line had no newline, it writes one first.
func (c *copier) write(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	if c.partial {
		if _, err := c.w.Write(newline); err != nil {
			return err
		}
	}
	c.partial = raw[len(raw)-1] != '\n'
	if _, err := c.w.Write(raw); err != nil || !c.partial || !c.follow {
		return err
	}
	c.partial = false
	_, err := c.w.Write(newline)
	return err
}

// Close ends a JSON array, and writes the header of a file without records.
func (c *copier) Close() error {
	switch {
	case c.json != nil:
		return c.json.close()
	case c.like != nil && !c.begun:
		c.readHeader()
		return c.begin(c.like)
	}
	return nil
}

// readHeader makes sure that the columns of like are known: reading its records reads the header.
func (c *copier) readHeader() {
	if info := c.like.Info(); info.Columns == nil && (info.Format == CSV || info.Format == TSV) {
		for range c.like.Records(context.Background()) {
			break
		}
	}
}
