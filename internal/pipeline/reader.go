package pipeline

import (
	"context"
	"io"
)

// Reader returns a reader of r. When ctx ends, a waiting Read returns its cause immediately, even
// if r is a pipe that nobody writes to. The read of r continues in its goroutine.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	return &reader{ctx: ctx, r: r, buf: make([]byte, readerBytes)}
}

const readerBytes = 64 << 10

type reader struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte // used by the read in progress
	left []byte // the unread part of buf
	err  error  // to be returned after left
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if len(r.left) == 0 && r.err == nil && len(p) > 0 {
		type result struct {
			n   int
			err error
		}
		done := make(chan result, 1)
		go func() {
			n, err := r.r.Read(r.buf)
			done <- result{n, err}
		}()
		select {
		case got := <-done:
			r.left, r.err = r.buf[:got.n], got.err
		case <-r.ctx.Done():
			r.err = context.Cause(r.ctx)
		}
	}
	n := copy(p, r.left)
	if r.left = r.left[n:]; len(r.left) > 0 {
		return n, nil
	}
	return n, r.err
}
