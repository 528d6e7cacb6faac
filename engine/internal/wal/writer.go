package wal

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/simdb/simdb/internal/vfs"
)

const (
	// bufferLimit is how many bytes Append collects before it writes them to the operating system.
	bufferLimit = 1 << 20
	// bufferKeep is the size of the largest buffer that is reused.
	bufferKeep = 4 << 20
)

// Writer appends to a log. It may be used by many goroutines at once; the order of frames in the
// log is the order of the Append calls.
//
// Positions: synced <= written <= end. Bytes before synced are durable, bytes before written have
// been written to the operating system, and buf holds the bytes from written on, except while a
// leader is writing them.
//
// A Writer does no input or output before its first Sync, Flush or Prepare: a caller may start a
// log while it holds a lock. The first leader makes the file, and ends the log before this one,
// which other goroutines may do meanwhile, too. Only then does it write frames.
type Writer struct {
	fs     vfs.FS
	name   string
	header Header
	seed   uint32   // checksum with which the checksums of the frames start
	f      vfs.File // nil until the file is made

	mu      sync.Mutex
	changed sync.Cond // busy, ending, written, synced or err has changed
	before  *Writer   // the previous log, until it has ended; nil for none
	buf     []byte    // frames not yet written
	spare   []byte    // the other buffer, or nil while a leader uses it
	end     int64
	written int64
	synced  int64
	busy    bool  // a leader is writing; only the leader accesses f
	full    bool  // the last write found no space, and its data is in buf again
	err     error // the first failure, after which nothing is written
	ending  bool  // a call of finish is running
	ended   bool  // End or Close was called: nothing can be appended
	whole   bool  // the end frame is durable
	closed  bool

	// Group, if not nil, calls sync, which makes the file durable up to end, unless another process
	// has done that. It must be set before the first use.
	Group func(end int64, sync func() error) error
}

// New returns the Writer of a new log. It makes no file yet. before, if not nil, is the log before
// it: no frame of the new log is written until before has a durable end frame. Thus only the newest
// log that has frames can lack one.
func New(fs vfs.FS, name string, h Header, before *Writer) *Writer {
	w := &Writer{fs: fs, name: name, header: h, before: before, end: HeaderSize, written: HeaderSize, synced: HeaderSize}
	_, w.seed = encodeHeader(h)
	w.changed.L = &w.mu
	return w
}

// Create makes a new log and returns once the empty log and its name are durable. If the file
// exists, the error is fs.ErrExist. After a *vfs.NoSpaceError there is no such file.
func Create(fs vfs.FS, name string, h Header) (*Writer, error) {
	w := New(fs, name, h, nil)
	if err := w.Prepare(); err != nil {
		return nil, err
	}
	return w, nil
}

// Prepare makes the file, unless it exists already, and returns once the empty log and its name are
// durable. After a *vfs.NoSpaceError there is no file, and the next call tries again.
func (w *Writer) Prepare() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.busy {
		w.changed.Wait()
	}
	if w.err != nil || w.f != nil || w.closed {
		return w.err
	}
	return w.alone(w.create)
}

// alone runs work as the leader, without mu. The caller holds mu, and there is no leader.
func (w *Writer) alone(work func() error) error {
	w.busy = true
	w.mu.Unlock()
	err := work()
	w.mu.Lock()
	w.busy = false
	if vfs.IsNoSpace(err) {
		w.full = len(w.buf) > 0
	} else if err != nil {
		w.err = err
	}
	w.changed.Broadcast()
	return err
}

// create makes the file. The caller is the leader.
func (w *Writer) create() error {
	f, err := w.fs.Create(w.name)
	if err != nil {
		err = fmt.Errorf("create log: %w", err)
		if vfs.IsFull(err) {
			err = &vfs.NoSpaceError{Err: err}
		}
		return err
	}
	head, _ := encodeHeader(w.header)
	err = writeAll(f, head)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = w.fs.SyncDir(filepath.Dir(w.name))
	}
	if err != nil {
		f.Close()
		err = fmt.Errorf("create log %s: %w", w.name, err)
		// The removal of the name must be durable before another log is created: a log without a
		// header may only be the newest.
		if vfs.IsFull(err) && remove(w.fs, w.name) == nil {
			err = &vfs.NoSpaceError{Err: err}
		}
		return err
	}
	w.mu.Lock()
	w.f = f // Append looks whether it is there
	w.mu.Unlock()
	return nil
}

// begin does what must be done before the first frame is written. The caller is the leader.
func (w *Writer) begin() error {
	if w.f == nil {
		if err := w.create(); err != nil {
			return err
		}
	}
	if w.before == nil {
		return nil
	}
	err := w.before.End()
	if err == nil {
		w.mu.Lock()
		w.before = nil
		w.mu.Unlock()
	}
	return err
}

// Discard closes a log without frames, and removes its file.
func (w *Writer) Discard() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.busy {
		w.changed.Wait()
	}
	w.ended, w.closed = true, true
	if w.f == nil {
		return nil
	}
	return errors.Join(w.f.Close(), w.fs.Remove(w.name))
}

// Append adds a frame to the log and returns the position after it, for Sync or Flush. The frame
// may stay in memory until then. The payload is copied.
//
// If frames that found no space on the disk are waiting in memory, Append writes them first. If
// there is still no space, nothing is appended, and the error is a *vfs.NoSpaceError.
func (w *Writer) Append(payload []byte) (end int64, err error) {
	if len(payload) > MaxPayload {
		return 0, fmt.Errorf("log %s: %d bytes: %w", w.name, len(payload), ErrTooLarge)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full {
		if err := w.advance(w.end, &w.written, false); err != nil {
			return 0, err
		}
	}
	if w.err != nil || w.ended {
		return 0, cmp.Or(w.err, fmt.Errorf("log %s: %w", w.name, ErrClosed))
	}
	w.buf = appendFrame(w.buf, w.seed, w.end, w.synced, typeData, payload)
	w.end += frameSize(int64(len(payload)))
	end = w.end
	if len(w.buf) >= bufferLimit && w.f != nil && w.before == nil {
		// The frame has been appended: if there is no space for it now, Sync and Flush return the
		// error. Append does not wait for the previous log.
		if err := w.advance(end, &w.written, false); err != nil && !vfs.IsNoSpace(err) {
			return end, err
		}
	}
	return end, nil
}

// Sync returns once everything before end is durable. Concurrent callers share one fsync. After a
// *vfs.NoSpaceError the frames are still in memory, and the next Append, Sync, Flush or End tries
// again to write them.
func (w *Writer) Sync(end int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advance(end, &w.synced, true)
}

// Flush returns once everything before end has been written to the operating system: it then
// survives the end of the process, but not a crash of the machine. A *vfs.NoSpaceError means the
// same as for Sync.
func (w *Writer) Flush(end int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advance(end, &w.written, false)
}

// Number returns the number of the log.
func (w *Writer) Number() uint64 { return w.header.Number }

// Size returns the log's size in bytes, including frames still in memory.
func (w *Writer) Size() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end
}

// finish makes everything durable and writes an end frame. A second call returns once the first has
// succeeded. The caller holds mu.
func (w *Writer) finish() error {
	for w.ending {
		w.changed.Wait()
	}
	switch {
	case w.whole:
		return nil
	case w.ended:
		return cmp.Or(w.err, fmt.Errorf("log %s: %w", w.name, ErrClosed))
	}
	w.ended, w.ending = true, true // prevents more appends
	err := w.advance(w.end, &w.synced, true)
	if err == nil {
		// Only now may the end frame claim that everything before it is durable.
		w.buf = appendFrame(w.buf, w.seed, w.end, w.end, typeEnd, nil)
		w.end += frameHeader
		if err = w.advance(w.end, &w.synced, true); vfs.IsNoSpace(err) { // the end frame is the last in buf
			w.buf = w.buf[:len(w.buf)-frameHeader]
			w.end -= frameHeader
		}
	}
	w.ended, w.ending, w.whole = !vfs.IsNoSpace(err), false, err == nil
	w.changed.Broadcast()
	return err
}

// End makes everything durable, writes an end frame and closes the file. After a *vfs.NoSpaceError
// the log continues as if End had not been called. A second End does nothing once the first has
// succeeded.
func (w *Writer) End() error { return w.close(false) }

// Close is End, but closes the file even if there is no space, or the log failed. It returns the
// failure. A second Close does nothing.
func (w *Writer) Close() error { return w.close(true) }

// close is Close if incomplete is true, and otherwise End.
func (w *Writer) close(incomplete bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed && incomplete {
		return nil
	}
	err := w.finish()
	for w.busy { // after a failure, a leader may still be running for another call
		w.changed.Wait()
	}
	if w.closed || !incomplete && vfs.IsNoSpace(err) { // closed by another call meanwhile
		return err
	}
	w.ended, w.closed = true, true
	if w.f == nil {
		return err
	}
	if closeErr := w.f.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close log %s: %w", w.name, closeErr)
	}
	return err
}

// advance returns once *reached, which is w.written or w.synced, is at least end. The caller holds
// mu, and becomes the leader if there is none. If a leader finds no space, the waiting callers try
// themselves.
func (w *Writer) advance(end int64, reached *int64, sync bool) error {
	if end > w.end {
		return fmt.Errorf("log %s: position %d is past its end %d", w.name, end, w.end)
	}
	for *reached < end {
		switch {
		case w.err != nil:
			return w.err
		case w.busy:
			w.changed.Wait()
		case w.closed: // closed without space for the rest
			return fmt.Errorf("log %s: %w", w.name, ErrClosed)
		default:
			if err := w.lead(sync); err != nil {
				return err
			}
		}
	}
	return nil
}

// lead writes the collected frames, and syncs them if asked to. It releases mu meanwhile, so that
// others may append. Every failure except a full disk is final: after a failed write the file's end
// is unknown, and after a failed fsync the system may have dropped the pages and report success the
// next time.
func (w *Writer) lead(sync bool) error {
	if w.f == nil || w.before != nil {
		if err := w.alone(w.begin); err != nil {
			return err
		}
	}
	buf, start, target := w.buf, w.written, w.end
	w.buf, w.spare = w.spare[:0], nil
	w.busy = true
	w.mu.Unlock()

	n, err := write(w.f, buf)
	written := err == nil
	whole := 0 // size of the whole frames that stay in the file if there was no space for all
	noRoom := false
	if vfs.IsFull(err) {
		whole = wholeFrames(buf[:n])
		noRoom = whole < len(buf) && w.f.Truncate(start+int64(whole)) == nil
	}
	switch {
	case !written || !sync:
	case w.Group != nil:
		err = w.Group(target, w.f.Sync)
	default:
		err = w.f.Sync()
	}

	w.mu.Lock()
	w.busy = false
	defer w.changed.Broadcast()
	if noRoom {
		w.full = true
		w.written = start + int64(whole)
		w.buf = append(buf[whole:], w.buf...)
		return &vfs.NoSpaceError{Err: fmt.Errorf("write log %s: %w", w.name, err)}
	}
	if cap(buf) <= bufferKeep {
		w.spare = buf
	}
	if written {
		w.written, w.full = max(w.written, target), false // Continue may have moved it
	}
	switch {
	case err != nil:
		w.err = fmt.Errorf("write log %s: %w", w.name, err)
	case sync:
		w.synced = target
	}
	return w.err
}

// wholeFrames returns the total size of the whole frames at the start of p. They stay in the file
// when the rest of a write is undone: a reader may have seen them.
func wholeFrames(p []byte) (size int) {
	for {
		rest := p[size:]
		if len(rest) < frameHeader {
			return size
		}
		frame := frameSize(int64(binary.LittleEndian.Uint32(rest[4:])))
		if frame > int64(len(rest)) {
			return size
		}
		size += int(frame)
	}
}

// writeAll writes p, unless it is empty. A short write is an error.
func writeAll(f io.Writer, p []byte) error {
	_, err := write(f, p)
	return err
}

// write is writeAll, and returns the number of bytes written.
func write(f io.Writer, p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err = f.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}
