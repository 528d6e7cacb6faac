package remote

import (
	"context"
	"io"
	"sync"
)

// Sizes of the parts of a file that are read ahead. A part is as long as half of the bytes read before
// it in sequence, so at most a third of the sent bytes is not used.
const (
	leastAhead = 64 << 10
	mostAhead  = 4 << 20
	mostParts  = 16 // in memory at the same time
)

// ranges reads parts of a file, in any order, from several goroutines. A reader of a file of columns
// reads a few sequences of pages at a time.
type ranges struct {
	ctx context.Context
	t   *target
	of  *info

	mu    sync.Mutex
	parts []*part // the most recently used one last
}

// part is a part of the file in memory.
type part struct {
	off  int64
	data []byte
	run  int64 // bytes that were read in sequence up to its end
}

// ReadAt implements io.ReaderAt.
func (r *ranges) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off+int64(n) < r.of.size {
		got, run := r.have(p[n:], off+int64(n))
		if n += got; got > 0 {
			continue
		}
		if err := r.load(off+int64(n), int64(len(p)-n), run); err != nil {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// have copies bytes that are in memory. If there are none, it returns how many bytes were read in
// sequence up to off.
func (r *ranges) have(p []byte, off int64) (n int, run int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, part := range r.parts {
		at := off - part.off
		if at == int64(len(part.data)) {
			run = max(run, part.run)
		}
		if at >= 0 && at < int64(len(part.data)) {
			r.parts = append(append(r.parts[:i], r.parts[i+1:]...), part)
			return copy(p, part.data[at:]), 0
		}
	}
	return 0, run
}

// load reads a part of at least n bytes, if the file has so many.
func (r *ranges) load(off, n, run int64) error {
	wanted := off
	n = max(n, min(max(run/2, leastAhead), mostAhead))
	if left := r.of.size - off; n > left {
		n = left
		if n < leastAhead && run == 0 { // the end of the file, whose lengths are read before its content
			off = max(0, r.of.size-leastAhead)
			n = r.of.size - off
		}
	}
	s := stream{ctx: r.ctx, t: r.t, of: r.of, off: off, end: off + n}
	defer s.disconnect()
	data := make([]byte, n)
	got, err := io.ReadFull(&s, data)
	if err != nil && (err != io.ErrUnexpectedEOF || off+int64(got) <= wanted) { // a server may send less than requested
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.parts) == mostParts {
		r.parts = r.parts[1:]
	}
	r.parts = append(r.parts, &part{off, data[:got], run + int64(got)})
	return nil
}
