package input

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	batchBytes = 256 << 10           // a batch is sent on once it has so much
	firstBytes = 512 << 10           // a batch's buffer; it doubles for a record that does not fit
	headBytes  = 1 << 10             // what is kept of a record over MaxRecord
	heldBytes  = 3*MaxRecord + 8<<20 // the buffers of all batches on their way
)

// span is a record's place in a batch.
type span struct {
	from, to int
	line     int64 // its first line
	lines    int64
}

// batch is a run of records on its way from the splitter through a parser to the caller.
type batch struct {
	buf    []byte
	spans  []span
	out    []outcome     // what the parser makes of spans, in their order
	parsed chan struct{} // closed when out is complete
	issue  *Issue        // a record behind spans that was cut off, or nil
	err    error         // ends the reading, after out and issue
}

// buffers are those of the usual size, to be used again.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, firstBytes); return &b }}

func newBatch(size int) *batch {
	b := &batch{parsed: make(chan struct{})}
	if size == firstBytes {
		b.buf = (*buffers.Get().(*[]byte))[:0]
	} else {
		b.buf = make([]byte, 0, size)
	}
	return b
}

// free gives the batch's buffer back.
func (b *batch) free(held *semaphore.Weighted) {
	buf := b.buf[:0]
	b.buf, b.out = nil, nil
	held.Release(int64(cap(buf)))
	if cap(buf) == firstBytes {
		buffers.Put(&buf)
	}
}

// cutter finds where records end. It keeps its place between calls.
type cutter interface {
	// end returns how many bytes of p the current record still has, its newline included, or -1 if it goes on
	// behind p.
	end(p []byte) int
	// open says what is unfinished if the file ends here, "" if nothing is.
	open() string
}

// lines is the cutter of formats where a record is a line.
type lines struct{}

func (lines) end(p []byte) int {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return i + 1
	}
	return -1
}

func (lines) open() string { return "" }

// splitter cuts a stream into batches of records.
//
//	b.buf:  | records, in b.spans | the record being looked for | room to read |
//	        0                   start                          len            cap
type splitter struct {
	f    *File
	cut  cutter
	held *semaphore.Weighted
	send func(*batch) // on to the parsers and the caller; the batch is no longer the splitter's
	live bool         // send what there is after every read: somebody waits at the other end

	b     *batch
	start int
	line  int64 // of the record at start
}

// run reads r to its end. The last batch it sends carries the error that ended the reading, if any.
func (s *splitter) run(ctx context.Context, r io.Reader) {
	s.line = 1
	err := s.renew(ctx, firstBytes)
	for err == nil {
		buf := s.b.buf
		var n int
		n, err = r.Read(buf[len(buf):min(cap(buf), len(buf)+batchBytes)])
		s.b.buf = buf[:len(buf)+n]
		if e := s.scan(len(buf)); e != nil {
			err = e
		} else if err == nil {
			err = s.makeRoom(ctx, r)
		} else if err == io.EOF {
			err = s.finish()
			break
		} else {
			err = &ReadError{File: s.f.name, Line: s.line - 1, Err: explain(s.f.packed, err)}
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	if s.b == nil { // the context ended while waiting for a buffer
		s.b = &batch{parsed: make(chan struct{})}
	}
	s.b.err = err
	s.send(s.b)
}

// scan notes the records that end at or behind from.
func (s *splitter) scan(from int) error {
	for from < len(s.b.buf) {
		e := s.cut.end(s.b.buf[from:])
		if e < 0 {
			return nil
		}
		from += e
		if err := s.record(from); err != nil {
			return err
		}
	}
	return nil
}

// record notes the record that ends at to. The first of the file may be its header.
func (s *splitter) record(to int) error {
	raw := s.b.buf[s.start:to]
	n := int64(1)
	if _, one := s.cut.(lines); !one {
		n = max(1, int64(bytes.Count(raw, []byte("\n"))))
	}
	sp := span{from: s.start, to: to, line: s.line, lines: n}
	s.start, s.line = to, s.line+n
	if s.f.hasHeader {
		if len(bytes.TrimSpace(raw)) == 0 {
			return nil
		}
		isData, err := s.f.readHeader(raw)
		if err != nil {
			return &ReadError{File: s.f.name, Line: -1, Err: err}
		}
		if !isData {
			return nil
		}
	}
	if s.line > s.f.opt.Skip+1 {
		s.b.spans = append(s.b.spans, sp)
	}
	return nil
}

// finish notes what is left at the end of the file: a last line without newline is a record too.
func (s *splitter) finish() error {
	rest := s.b.buf[s.start:]
	if what := s.cut.open(); what != "" {
		s.b.issue = &Issue{File: s.f.name, Line: s.line, Reason: what, Raw: rest, Size: int64(len(rest))}
		return nil
	}
	if len(rest) == 0 {
		return nil
	}
	return s.record(len(s.b.buf))
}

// makeRoom sees to it that there is room in the buffer to read on.
func (s *splitter) makeRoom(ctx context.Context, r io.Reader) error {
	full := len(s.b.buf) == cap(s.b.buf)
	switch {
	case len(s.b.spans) > 0 && (s.live || full || s.start >= batchBytes):
		return s.next(ctx, max(firstBytes, 2*(len(s.b.buf)-s.start)))
	case !full:
		return nil
	case s.start > 0: // records that are not wanted
		s.b.buf = s.b.buf[:copy(s.b.buf, s.b.buf[s.start:])]
		s.start = 0
		return nil
	case len(s.b.buf) <= MaxRecord:
		return s.next(ctx, min(2*cap(s.b.buf), MaxRecord+firstBytes))
	}
	return s.discard(ctx, r)
}

// next goes on with a new buffer, to which the unfinished record moves, and sends the old one if there are records in it.
func (s *splitter) next(ctx context.Context, size int) error {
	old, rest := s.b, s.b.buf[s.start:]
	if err := s.renew(ctx, size); err != nil {
		s.b = old
		return err
	}
	s.b.buf = append(s.b.buf, rest...)
	s.start = 0
	if len(old.spans) > 0 {
		s.send(old)
	} else {
		old.free(s.held)
	}
	return nil
}

func (s *splitter) renew(ctx context.Context, size int) error {
	if err := s.held.Acquire(ctx, int64(size)); err != nil {
		return err
	}
	s.b = newBatch(size)
	return nil
}

// discard reads past a record that is over MaxRecord and sends an Issue in its place.
func (s *splitter) discard(ctx context.Context, r io.Reader) error {
	size, newlines := int64(len(s.b.buf)), int64(bytes.Count(s.b.buf, []byte("\n")))
	is := &Issue{File: s.f.name, Line: s.line, Raw: bytes.Clone(s.b.buf[:headBytes])}
	for e, err := -1, error(nil); e < 0; {
		if err == io.EOF {
			break
		} else if err != nil {
			return &ReadError{File: s.f.name, Line: s.line - 1, Err: explain(s.f.packed, err)}
		}
		var n int
		n, err = r.Read(s.b.buf[:batchBytes])
		s.b.buf = s.b.buf[:n]
		end := n
		if e = s.cut.end(s.b.buf); e >= 0 {
			end = e
		}
		size += int64(end)
		newlines += int64(bytes.Count(s.b.buf[:end], []byte("\n")))
		s.start = end
		if e := ctx.Err(); e != nil {
			return e
		}
		if e >= 0 && err != nil && err != io.EOF {
			return &ReadError{File: s.f.name, Line: s.line, Err: explain(s.f.packed, err)}
		}
	}
	is.Size = size
	is.Reason = tooLarge(size)
	if s.line+max(newlines, 1) > s.f.opt.Skip+1 {
		s.b.issue = is
	}
	s.line += max(newlines, 1)
	old, rest := s.b, s.b.buf[s.start:]
	if err := s.renew(ctx, firstBytes); err != nil {
		s.b = old
		return err
	}
	s.b.buf, s.start = append(s.b.buf, rest...), 0
	s.send(old)
	return s.scan(0)
}

func tooLarge(size int64) string {
	return fmt.Sprintf("too large: %d bytes, a document has at most %d", size, MaxRecord)
}
