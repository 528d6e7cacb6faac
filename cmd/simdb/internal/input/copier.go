package input

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
func newEncoded(w io.Writer, o CopyOptions, inner func(io.Writer, CopyOptions) Copier) Copier {
	to := transform.NewWriter(w, o.Like.Info().Encoding.encoder())
	return &encoded{inner(to, o), to, o.Like.Info().ByteOrderMark}
}

// Copy copies a record.
func (c *encoded) Copy(src Source, raw []byte, values ...any) error {
	if c.mark {
		c.mark = false
		if _, err := io.WriteString(c.w, bom); err != nil {
			return err
		}
	}
	return c.Copier.Copy(src, raw, values...)
}

// Close completes the output.
func (c *encoded) Close() error { return errors.Join(c.Copier.Close(), c.w.Close()) }

// unwrapping is a Copier that gets the Sources that the formats have made.
type unwrapping struct{ Copier }

// Copy appends a record.
func (c unwrapping) Copy(src Source, raw []byte, values ...any) error {
	if made, ok := src.(madeIDs); ok {
		src = made.Source
	}
	return c.Copier.Copy(src, raw, values...)
}
