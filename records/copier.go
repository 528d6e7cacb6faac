package records

import (
	"errors"
	"io"

	"golang.org/x/text/transform"
)

// PartWriter is an output whose compressed parts can each be decompressed separately.
type PartWriter interface {
	io.Writer

	// EndPart ends a part, if the output is compressed.
	EndPart() error
}

// encoded is a Copier that writes in the encoding of its inputs.
type encoded struct {
	Copier
	w    *transform.Writer
	mark bool // a byte order mark must still be written
}

// newEncoded makes a Copier that writes in the encoding and with the line ends of o.Like.
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

// lineEnds swaps CR and LF.
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

// begin writes the byte order mark, once and only if the inputs have one.
func (c *encoded) begin() (err error) {
	if c.mark {
		c.mark = false
		_, err = io.WriteString(c.w, bom)
	}
	return err
}

// Close completes the output.
func (c *encoded) Close() error { return errors.Join(c.begin(), c.Copier.Close(), c.w.Close()) }

// unwrapping is a Copier that removes the madeIDs wrapper, so that a format sees its own Source.
type unwrapping struct{ Copier }

// Copy appends a record.
func (c unwrapping) Copy(src Source, raw []byte, values ...any) error {
	return c.Copier.Copy(ownSource(src), raw, values...)
}

// Copier copies records to an output of the same format as their sources, which must all have the
// same Shape.
type Copier interface {
	// Copy appends a record of src, given its Raw. values are the values of CopyOptions.Columns:
	// int64, float64, string or nil.
	Copy(src Source, raw []byte, values ...any) error
	// Close completes the output, with a footer for example. It does not close the writer.
	Close() error
}

// CopyOptions say how a Copier writes.
type CopyOptions struct {
	// Follow completes every record at once, for a reader that follows the output: a last line
	// without a newline gets one. Without it, the output ends as the input does.
	Follow bool

	// Like is a source of the same shape as those copied, or nil. A format may need it to write an
	// output without records. It may already be closed.
	Like Source

	// Bare writes JSON records without an array around them, because some are broken.
	Bare bool

	// Null ends each path with a zero byte instead of a newline, in formats whose copies are lists
	// of paths.
	Null bool

	// Columns are added to the copies. CanExtend must have accepted them.
	Columns []Column
}
