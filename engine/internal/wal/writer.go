package wal

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/simdb/simdb/internal/vfs"
)

const (
	// bufferLimit is how much Append collects before it hands it to the operating system by itself.
	bufferLimit = 1 << 20
	// bufferKeep is the greatest buffer kept for reuse.
	bufferKeep = 4 << 20
)

// Writer appends to a log. It may be used by many goroutines at once; frames stand in the log in
// the order of the Append calls.
//
// Positions: synced <= written <= end. Bytes before synced are durable, bytes before written are
// with the operating system, and buf holds those from written on, except while a leader is writing
// them.
type Writer struct {
	f    vfs.File
	name string
	seed uint32 // the checksum from which those of the frames start

	mu      sync.Mutex
	changed sync.Cond // busy, written, synced or err has changed
	buf     []byte    // frames not yet written
	spare   []byte    // the other buffer, while no leader uses it
	end     int64
	written int64
	synced  int64
	busy    bool  // a leader is writing; it alone touches f
	err     error // the first failure: nothing more is written
	closed  bool
}

// Create makes a new log and returns once the empty log and its name are durable. A file that is
// there already is fs.ErrExist.
func Create(fs vfs.FS, name string, h Header) (*Writer, error) {
	f, err := fs.Create(name)
	if err != nil {
		return nil, fmt.Errorf("create log: %w", err)
	}
	head, seed := encodeHeader(h)
	err = writeAll(f, head)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fs.SyncDir(filepath.Dir(name))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("create log %s: %w", name, err)
	}
	w := &Writer{f: f, name: name, seed: seed, end: headerSize, written: headerSize, synced: headerSize}
	w.changed.L = &w.mu
	return w, nil
}

// Append adds a frame to the log and returns the position after it, to be given to Sync or Flush.
// The frame may stay in memory until then. The payload is copied.
func (w *Writer) Append(payload []byte) (end int64, err error) {
	if len(payload) > MaxPayload {
		return 0, fmt.Errorf("log %s: %d bytes: %w", w.name, len(payload), ErrTooLarge)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return 0, err
	}
	w.buf = appendFrame(w.buf, w.seed, w.end, w.synced, typeData, payload)
	w.end += frameSize(int64(len(payload)))
	end = w.end
	if len(w.buf) >= bufferLimit {
		return end, w.advance(end, &w.written, false)
	}
	return end, nil
}

// Sync returns once everything before end is durable. Concurrent callers share one fsync.
func (w *Writer) Sync(end int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advance(end, &w.synced, true)
}

// Flush returns once everything before end is with the operating system, where it survives the end
// of the process but not that of the machine.
func (w *Writer) Flush(end int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.advance(end, &w.written, false)
}

// Size returns the log's size in bytes, with what is still in memory.
func (w *Writer) Size() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end
}

// Close makes everything durable, marks the log's end and closes the file. A log that failed is
// closed as it is, and the failure returned. A second Close does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true // from here on nobody appends
	err := w.advance(w.end, &w.synced, true)
	if err == nil {
		// Only now may the end frame claim that all before it is durable.
		w.buf = appendFrame(w.buf, w.seed, w.end, w.end, typeEnd, nil)
		w.end += frameHeader
		err = w.advance(w.end, &w.synced, true)
	}
	for w.busy { // a leader that does not serve this call, after a failure
		w.changed.Wait()
	}
	if closeErr := w.f.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close log %s: %w", w.name, closeErr)
	}
	return err
}

// usable says why nothing can be appended. The caller holds mu.
func (w *Writer) usable() error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return fmt.Errorf("log %s: %w", w.name, ErrClosed)
	}
	return nil
}

// advance returns once *reached, which is written or synced, is at least end. The caller holds mu,
// and leads if nobody does.
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
		default:
			w.lead(sync)
		}
	}
	return nil
}

// lead writes what has been collected, and syncs it if asked to. Meanwhile others may append,
// without mu held. Any failure is final: after a failed write the file's end is unknown, and after
// a failed fsync the system may have dropped the pages and report success the next time.
func (w *Writer) lead(sync bool) {
	buf, target := w.buf, w.end
	w.buf, w.spare = w.spare[:0], nil
	w.busy = true
	w.mu.Unlock()

	err := writeAll(w.f, buf)
	written := err == nil
	if written && sync {
		err = w.f.Sync()
	}

	w.mu.Lock()
	w.busy = false
	if cap(buf) <= bufferKeep {
		w.spare = buf
	}
	if written {
		w.written = target
	}
	switch {
	case err != nil:
		w.err = fmt.Errorf("write log %s: %w", w.name, err)
	case sync:
		w.synced = target
	}
	w.changed.Broadcast()
}

// writeAll writes p, if there is anything in it, and takes a short write for an error.
func writeAll(f io.Writer, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	n, err := f.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}
