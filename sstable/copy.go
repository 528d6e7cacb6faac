package sstable

import (
	"context"
	"io"
)

// WriteTo writes the table's file to w as it is and returns how many bytes it has written. It
// checks nothing: Verify does. An error of a page that can't be read is a *base.CorruptionError.
func (r *Reader) WriteTo(w io.Writer) (n int64, err error) {
	defer r.unguard(guard(), &err)
	defer r.pages.Sequential()()
	const chunk = 2 << 20
	for data := r.data; len(data) > 0; {
		wrote, err := w.Write(data[:min(chunk, len(data))])
		n += int64(wrote)
		if err != nil {
			return n, err
		}
		data = data[wrote:]
	}
	return n, nil
}

// VerifySums checks every byte of the file against the checksums, and nothing else: it notices
// what storage may have lost, at the speed of reading. Verify checks more. Damage is a
// *base.CorruptionError; another error is that of the context.
func (r *Reader) VerifySums(ctx context.Context) (err error) {
	defer r.unguard(guard(), &err)
	defer r.pages.Sequential()()
	v := &verifier{Reader: r, ctx: ctx, all: &verification{total: r.info.Size}}
	if err = v.checkBytes(); err == nil {
		err = ctx.Err()
	}
	return err
}
