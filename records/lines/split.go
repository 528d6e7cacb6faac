package lines

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/simdb/simdb/records"
)

const (
	// batchBytes is the size of a full batch, which is then sent on. The record of a short line
	// needs ten times the memory of the line, so a parsed batch still fits into a second-level
	// cache.
	batchBytes = 64 << 10
	firstBytes = 128 << 10                   // of a new batch; doubled for a record that does not fit
	headBytes  = 1 << 10                     // of a record larger than MaxRecord, copied into its Issue
	heldBytes  = 3*records.MaxRecord + 8<<20 // limit for the buffers of all batches between splitter and caller
)

// span is the position of a record in a batch.
type span struct {
	from, to int
	line     records.Position // first line of the record
	end      records.Position // value of Record.End
}

// outcome is a record or an Issue.
type outcome struct {
	rec   *record
	issue *records.Issue
}

// batch is a run of records on its way from the splitter through a parser to the caller.
type batch struct {
	buf    []byte
	spans  []span
	out    []outcome      // results of the parser, in the order of spans
	recs   []record       // the records that out refers to
	parsed chan struct{}  // closed when out is complete
	issue  *records.Issue // a record after spans that was cut off, or nil
	err    error          // ends the reading, after out and issue
}

// buffers recycles buffers of the usual size.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, firstBytes); return &b }}

// parts are the arrays of a batch, to be recycled.
type parts struct {
	spans []span
	out   []outcome
	recs  []record
}

var recycled = sync.Pool{New: func() any { return &parts{} }}

// recycle saves the arrays of a batch for reuse.
func recycle(b *batch) {
	clear(b.recs) // the pool must not retain what records refer to
	recycled.Put(&parts{b.spans[:0], b.out[:0], b.recs[:0]})
}

func newBatch(size int) *batch {
	p := recycled.Get().(*parts)
	b := &batch{parsed: make(chan struct{}), spans: p.spans, out: p.out, recs: p.recs}
	if size == firstBytes {
		b.buf = (*buffers.Get().(*[]byte))[:0]
	} else {
		b.buf = make([]byte, 0, size)
	}
	return b
}

// free returns the batch's buffer to the pool.
func (b *batch) free(held *semaphore.Weighted) {
	buf := b.buf[:0]
	recycle(b)
	b.buf, b.out, b.recs, b.spans = nil, nil, nil, nil
	held.Release(int64(cap(buf)))
	if cap(buf) == firstBytes {
		buffers.Put(&buf)
	}
}

// cutter finds where records end. It has state between calls.
type cutter interface {
	// end returns the number of bytes of p that belong to the current record, including its
	// newline, or -1 if the record continues after p.
	end(p []byte) int
	// open describes the construct that is unfinished if the file ends here, or returns "".
	open() string
}

// lineCutter is the cutter of formats with one record per line.
type lineCutter struct{}

func (lineCutter) end(p []byte) int {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return i + 1
	}
	return -1
}

func (lineCutter) open() string { return "" }

// splitter cuts a stream into batches of records.
//
//	b.buf:  | records, in b.spans | the record being looked for | free space |
//	        0                   start                          len         cap
type splitter struct {
	name  string           // of the file
	after records.Position // records that end at or before this position are skipped
	cut   cutter
	// comment is the first character of lines to skip; 0 skips none.
	comment byte
	held    *semaphore.Weighted
	send    func(*batch) // passes a batch to the parsers and the caller, who own it from then on
	live    bool         // send all records after every read, because the writer may wait for an answer
	bare    bool         // records begin with separators, and Record.End is their number
	starts  *starts      // the cutter, if it looks at first lines; otherwise not used

	// header parses the first nonblank line, and reports whether that is also data. If it returns
	// errAgain, it is called for the next line, too. It is nil afterwards, and if no header is
	// expected.
	header func(raw []byte) (isData bool, err error)

	b     *batch
	start int
	line  records.Position // of the record at start
	n     records.Position // number of records before it
}

// run reads all of r. The last batch carries the error that ended the reading, if any.
func (s *splitter) run(ctx context.Context, r io.Reader) {
	s.line = 1
	err := s.renew(ctx, firstBytes)
	for err == nil {
		buf := s.b.buf
		var n int
		n, err = r.Read(buf[len(buf):min(cap(buf), len(buf)+batchBytes)])
		s.b.buf = buf[:len(buf)+n]
		if e := s.scan(len(buf) - s.starts.again); e != nil {
			err = e
		} else if err == nil {
			err = s.reserve(ctx, r)
		} else if err == io.EOF {
			err = s.finish()
			break
		} else {
			err = s.readError(s.line-1, err)
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

// readError returns the error that ends the reading after a line.
func (s *splitter) readError(after records.Position, err error) error {
	return &records.ReadError{File: s.name, Pos: after, Unit: "line", Err: err}
}

// scan finds the records that end at or after from.
func (s *splitter) scan(from int) error {
	for from < len(s.b.buf) {
		e := s.cutter().end(s.b.buf[from:])
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

// cutter returns the cutter for the record at start. A comment ends with its line, even if it has
// quotes.
func (s *splitter) cutter() cutter {
	if isComment(s.b.buf[s.start:], s.comment) {
		return lineCutter{}
	}
	return s.cut
}

func isComment(raw []byte, char byte) bool { return char != 0 && len(raw) > 0 && raw[0] == char }

// record adds the record that ends at to. The first record of a file may be its header.
func (s *splitter) record(to int) error {
	raw := s.b.buf[s.start:to]
	newlines := records.Position(1)
	if _, one := s.cut.(lineCutter); !one {
		newlines = records.Position(bytes.Count(raw, newline))
	}
	sp := span{from: s.start, to: to, line: s.line}
	s.start, sp.end = to, s.pass(newlines)
	if isComment(raw, s.comment) {
		return nil
	}
	if s.header != nil {
		if len(bytes.TrimSpace(raw)) == 0 {
			return nil
		}
		isData, err := s.header(raw)
		if err == errAgain {
			return nil
		}
		s.header = nil
		if err != nil {
			return s.readError(records.NoPosition, err)
		}
		if !isData {
			return nil
		}
	}
	if sp.end > s.after {
		s.b.spans = append(s.b.spans, sp)
	}
	return nil
}

// pass advances past a record with this number of newlines, and returns the position of its end.
func (s *splitter) pass(newlines records.Position) (end records.Position) {
	s.n++
	if s.bare {
		s.line += newlines
		return s.n
	}
	s.line += max(newlines, 1) // the last line may have none
	return s.line - 1
}

// finish handles the rest at the end of the file: a last line without a newline is also a record.
func (s *splitter) finish() error {
	s.starts.last = true
	if err := s.scan(len(s.b.buf) - s.starts.again); err != nil {
		return err
	}
	rest := s.b.buf[s.start:]
	if !s.starts.found && len(bytes.TrimSpace(rest)) > 0 {
		return s.readError(records.NoPosition, s.starts.none)
	}
	if what := s.cut.open(); what != "" {
		s.b.issue = s.issue(what, rest, int64(len(rest)))
		return nil
	}
	if len(rest) == 0 {
		return nil
	}
	return s.record(len(s.b.buf))
}

// issue returns an Issue for the record at start.
func (s *splitter) issue(reason string, raw []byte, size int64) *records.Issue {
	line := s.line
	if s.bare {
		value, newlines := bare(raw, s.cut.(*objects).members)
		line += newlines
		size -= int64(len(raw) - len(value))
		raw = value
	}
	return &records.Issue{File: s.name, Pos: line, Unit: "line", Reason: reason, Raw: raw, Size: size}
}

// reserve makes free space in the buffer for the next read.
func (s *splitter) reserve(ctx context.Context, r io.Reader) error {
	full := len(s.b.buf) == cap(s.b.buf)
	switch {
	case len(s.b.spans) > 0 && (s.live || full || s.start >= batchBytes):
		return s.next(ctx, max(firstBytes, 2*(len(s.b.buf)-s.start)))
	case !full:
		return nil
	case s.start > 0: // records that are skipped
		s.b.buf = s.b.buf[:copy(s.b.buf, s.b.buf[s.start:])]
		s.start = 0
		return nil
	case len(s.b.buf) <= records.MaxRecord:
		return s.next(ctx, min(2*cap(s.b.buf), records.MaxRecord+firstBytes))
	}
	return s.discard(ctx, r)
}

// next moves the unfinished record to a new buffer, and sends the old one if it has records.
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

// renew makes a new batch as soon as memory is available.
func (s *splitter) renew(ctx context.Context, size int) error {
	if err := s.held.Acquire(ctx, int64(size)); err != nil {
		return err
	}
	s.b = newBatch(size)
	return nil
}

// discard skips a record that is larger than MaxRecord and sends an Issue for it.
func (s *splitter) discard(ctx context.Context, r io.Reader) error {
	s.start = len(s.b.buf) - s.starts.again
	newlines := records.Position(bytes.Count(s.b.buf[:s.start], newline))
	is := s.issue("", s.b.buf[:s.start], 0)
	whole := records.NewOversize(is.Raw)
	defer whole.Close()
	is.Raw = bytes.Clone(is.Raw[:headBytes])
	cut := s.cutter() // of the record to discard
	for e, err := -1, error(nil); e < 0; {
		if err == io.EOF {
			break
		} else if err != nil {
			return s.readError(s.line-1, err)
		}
		held, n := copy(s.b.buf, s.b.buf[s.start:]), 0
		n, err = r.Read(s.b.buf[held : held+batchBytes])
		s.b.buf = s.b.buf[:held+n]
		s.starts.last = err == io.EOF
		e = cut.end(s.b.buf)
		end := e
		if e < 0 {
			end = len(s.b.buf) - s.starts.again
		}
		whole.Write(s.b.buf[:end])
		newlines += records.Position(bytes.Count(s.b.buf[:end], newline))
		s.start = end
		if e := ctx.Err(); e != nil {
			return e
		}
		if e >= 0 && err != nil && err != io.EOF {
			return s.readError(s.line, err)
		}
	}
	whole.Complete(is, whole.Size())
	if is.End = s.pass(newlines); is.End > s.after {
		s.b.issue = is
	}
	old, rest := s.b, s.b.buf[s.start:]
	if err := s.renew(ctx, firstBytes); err != nil {
		s.b = old
		return err
	}
	s.b.buf, s.start = append(s.b.buf, rest...), 0
	s.send(old)
	return s.scan(0)
}

// errAgain says that the line precedes the header.
var errAgain = errors.New("the header comes next")
