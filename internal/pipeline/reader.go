package pipeline

import (
	"context"
	"io"
)

// Reader returns a reader of r whose reads end with the cause of the context's end as soon as that
// has come, even if r waits for somebody to write. That read goes on by itself.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	return &reader{ctx: ctx, r: r, buf: make([]byte, readerBytes)}
}

const readerBytes = 64 << 10

type reader struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte // belongs to the read that is under way
	left []byte // of buf
	err  error  // after what is left
}

// Read reads what r has.
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
