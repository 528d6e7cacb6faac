package write

import "io"

// asyncBuffer is how many bytes are written at a time; there are up to asyncBuffers of them, made
// as they are needed: most tables of a small database are smaller than one.
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
	made int         // buffers
	done chan struct{}
	err  error // of w; may be read once done is closed
}

// NewAsyncWriter returns a writer to w.
func NewAsyncWriter(w io.Writer) *AsyncWriter {
	a := &AsyncWriter{
		w: w, full: make(chan []byte, asyncBuffers), free: make(chan []byte, asyncBuffers), made: 1, done: make(chan struct{}),
	}
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
		room := p[:min(len(p), asyncBuffer-len(a.buf))]
		a.buf = append(a.buf, room...)
		n, p = n+len(room), p[len(room):]
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
