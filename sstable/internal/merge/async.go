package merge

import "io"

// asyncBuffer is how many bytes are written at a time; there are asyncBuffers of them.
const (
	asyncBuffer  = 512 << 10
	asyncBuffers = 4
)

// An AsyncWriter writes in a goroutine of its own, so that who encodes does not wait for who
// writes. It must be closed.
type AsyncWriter struct {
	w    io.Writer
	buf  []byte      // that is being filled
	full chan []byte // to be written
	free chan []byte // for reuse
	done chan struct{}
	err  error // of w; may be read once done is closed
}

// NewAsyncWriter returns a writer to w.
func NewAsyncWriter(w io.Writer) *AsyncWriter {
	a := &AsyncWriter{
		w: w, full: make(chan []byte, asyncBuffers), free: make(chan []byte, asyncBuffers), done: make(chan struct{}),
	}
	for range asyncBuffers - 1 {
		a.free <- make([]byte, 0, asyncBuffer)
	}
	a.buf = make([]byte, 0, asyncBuffer)
	go a.run(a.full)
	return a
}

// run writes what comes until Close, or an error.
func (a *AsyncWriter) run(full <-chan []byte) {
	defer close(a.done)
	for b := range full {
		if _, a.err = a.w.Write(b); a.err != nil {
			return
		}
		a.free <- b[:0]
	}
}

// Write keeps a copy of p. An error may be that of an earlier call.
func (a *AsyncWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		room := p[:min(len(p), cap(a.buf)-len(a.buf))]
		a.buf = append(a.buf, room...)
		n, p = n+len(room), p[len(room):]
		if len(a.buf) < cap(a.buf) {
			break
		}
		select {
		case <-a.done:
			return n, a.err
		case b := <-a.free:
			a.full <- a.buf // there is room for all buffers
			a.buf = b
		}
	}
	return n, nil
}

// Close writes what remains, and returns the first error of all writes. A second call only returns
// it again.
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
