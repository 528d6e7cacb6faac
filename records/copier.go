package records

import (
	"errors"
	"io"

	"golang.org/x/text/transform"
)

// PartWriter is an output that can be compressed in parts, each of which can be read by itself.
type PartWriter interface {
	io.Writer

	// EndPart ends a part, if the output is compressed.
	EndPart() error
}

// encoded is a Copier whose output is encoded as the inputs are.
type encoded struct {
	Copier
	w    *transform.Writer
	mark bool // the output begins with a byte order mark
}

// newEncoded makes the Copier for an output of records of sources like o.Like.
func newEncoded(w io.Writer, o CopyOptions, inner func(io.Writer, CopyOptions) (Copier, error)) (Copier, error) {
	info := o.Like.Info()
	var all []transform.Transformer
	if info.OldLineEnds {
		all = append(all, lineEnds{})
	}
	if info.Encoding != UTF8 {
		all = append(all, info.Encoding.encoder())
	}
	to := transform.NewWriter(w, transform.Chain(all...))
	c, err := inner(to, o)
	if err != nil {
		return nil, err
	}
	return &encoded{c, to, info.ByteOrderMark && info.Encoding != UTF8}, nil
}

// lineEnds makes LF of CR, and CR of LF.
type lineEnds struct{ transform.NopResetter }

// Transform implements transform.Transformer.
func (lineEnds) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	n := copy(dst, src)
	for i, c := range dst[:n] {
		if c == '\r' || c == '\n' {
			dst[i] = c ^ '\r' ^ '\n'
		}
	}
	if n < len(src) {
		err = transform.ErrShortDst
	}
	return n, n, err
}

// Copy copies a record.
func (c *encoded) Copy(src Source, raw []byte, values ...any) error {
	if err := c.begin(); err != nil {
		return err
	}
	return c.Copier.Copy(src, raw, values...)
}

// begin writes the byte order mark, unless there is none or that has been done.
func (c *encoded) begin() (err error) {
	if c.mark {
		c.mark = false
		_, err = io.WriteString(c.w, bom)
	}
	return err
}

// Close completes the output.
func (c *encoded) Close() error { return errors.Join(c.begin(), c.Copier.Close(), c.w.Close()) }

// unwrapping is a Copier that gets the Sources that the formats have made.
type unwrapping struct{ Copier }

// Copy appends a record.
func (c unwrapping) Copy(src Source, raw []byte, values ...any) error {
	if made, ok := src.(madeIDs); ok {
		src = made.Source
	}
	return c.Copier.Copy(src, raw, values...)
}

// Copier writes records of sources of one shape to an output, so that the output reads like the
// sources.
type Copier interface {
	// Copy appends a record of src, given its Raw, with the values of CopyOptions.Columns: int64,
	// float64, string or nil.
	Copy(src Source, raw []byte, values ...any) error
	// Close completes the output, with a footer for example. It does not close the writer.
	Close() error
}

// CopyOptions say how a Copier writes.
type CopyOptions struct {
	// Follow completes every record at once, for a reader that follows the output: a last line
	// without a newline gets one. Without it, the output ends as the input does.
	Follow bool

	// Like is a source of the shape of those that are copied, or nil. A format may need it for an
	// output without records. It may be closed.
	Like Source

	// Bare writes records as they are, without an array around those of JSON: some are broken.
	Bare bool

	// Null ends each path with a zero byte instead of a newline, in formats whose copies are lists
	// of paths.
	Null bool

	// Columns are further ones that the copies get. CanExtend has to allow them.
	Columns []Column
}
