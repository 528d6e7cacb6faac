package wal

import (
	"fmt"

	"github.com/simdb/simdb/internal/vfs"
)

// Several processes may append to a log, one after the other: each flushes its frames before the
// next one continues.

// Attach returns a Writer that continues a log after end, the end of its last frame, of which any
// part may not be durable yet. The log must have the version that this package writes.
func Attach(fs vfs.FS, name string, h Header, end int64) (*Writer, error) {
	w := New(fs, name, h, nil)
	f, err := fs.Append(name)
	if err != nil {
		return nil, fmt.Errorf("continue log: %w", err)
	}
	w.f, w.end, w.written = f, end, end
	return w, nil
}

// Continue says that another process has appended frames up to end. The Writer, whose frames are all
// written, goes on after them.
func (w *Writer) Continue(end int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end, w.written = end, end
}

// Leave closes the file of a log that another process has ended, durably.
func (w *Writer) Leave() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.busy {
		w.changed.Wait()
	}
	if w.closed {
		return nil
	}
	w.ended, w.closed, w.synced, w.written = true, true, w.end, w.end
	w.changed.Broadcast()
	if w.f == nil {
		return nil
	}
	return w.f.Close()
}
