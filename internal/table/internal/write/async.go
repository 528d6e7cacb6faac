package write

import "io"

// asyncBuffer is how many bytes are written at a time. There are up to asyncBuffers buffers, which
// are allocated when needed: most tables of a small database are smaller than one buffer.
const (
	asyncBuffer  = 512 << 10
	asyncBuffers = 4
)

// An AsyncWriter writes in a separate goroutine, so that encoding does not wait for output. It must
// be closed.
type AsyncWriter struct {
	w    io.Writer
	buf  []byte      // being filled
	full chan []byte // to be written
	free chan []byte // for reuse
	made int         // number of buffers
	done chan struct{}
	err  error // error of w; may be read once done is closed
}

// NewAsyncWriter returns a writer to w.
func NewAsyncWriter(w io.Writer) *AsyncWriter {
	a := &AsyncWriter{
		w: w, full: make(chan []byte, asyncBuffers), free: make(chan []byte, asyncBuffers), made: 1, done: make(chan struct{}),
	}
	go a.run(a.full)
	return a
}

// run writes buffers until Close, or until an error.
func (a *AsyncWriter) run(full <-chan []byte) {
	defer close(a.done)
	for b := range full {
		if _, a.err = a.w.Write(b); a.err != nil {
			return
		}
		a.free <- b[:0]
	}
}

// Write copies p. It may return the error of an earlier write.
func (a *AsyncWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), asyncBuffer-len(a.buf))]
		a.buf = append(a.buf, part...)
		n, p = n+len(part), p[len(part):]
		if len(a.buf) < asyncBuffer {
			break
		}
		if a.made < asyncBuffers {
			a.made++
			a.free <- make([]byte, 0, asyncBuffer)
		}
		select {
		case <-a.done:
			return n, a.err
		case b := <-a.free:
			a.full <- a.buf // the channel has capacity for all buffers
			a.buf = b
		}
	}
	return n, nil
}

// Close writes the rest and returns the first error of all writes. A second call only returns the
// error again.
func (a *AsyncWriter) Close() error {
	if a.full != nil {
		if len(a.buf) > 0 {
			a.full <- a.buf
		}
		close(a.full)
		a.full = nil
	}
	<-a.done
	return a.err
}
