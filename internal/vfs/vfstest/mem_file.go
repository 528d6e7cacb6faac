package vfstest

import (
	"io"
	"io/fs"
	"slices"
	"syscall"
)

// memFile is a handle on a file of a Mem.
type memFile struct {
	m     *Mem
	n     *memNode
	name  string
	write bool

	closed bool // guarded by m.mu
}

// check returns an error if the handle is closed or may not write, or if the machine has stopped.
// The caller holds m.mu.
func (f *memFile) check(op string, write bool) error {
	switch {
	case f.closed:
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	case write && !f.write:
		return &fs.PathError{Op: op, Path: f.name, Err: syscall.EBADF}
	case write:
		return f.m.mutate(op, f.name)
	}
	return f.m.alive(op, f.name)
}

func (f *memFile) Write(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("write", true); err != nil {
		return 0, err
	}
	if free := f.m.free(); len(p) > free {
		f.n.data = append(f.n.data, p[:free]...)
		return free, &fs.PathError{Op: "write", Path: f.name, Err: syscall.ENOSPC}
	}
	f.n.data = append(f.n.data, p...)
	return len(p), nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("read", false); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: syscall.EINVAL}
	}
	if off > int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Sync also works on a handle opened for reading, like fsync.
func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("sync", false); err != nil {
		return err
	}
	if err := f.m.mutate("sync", f.name); err != nil {
		return err
	}
	f.n.synced, f.n.whole = f.n.data[:len(f.n.data):len(f.n.data)], false
	return nil
}

func (f *memFile) Truncate(size int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("truncate", true); err != nil {
		return err
	}
	if size < 0 {
		return &fs.PathError{Op: "truncate", Path: f.name, Err: syscall.EINVAL}
	}
	f.n.host = "" // the next host file has the remaining bytes
	old := f.n.data
	if size <= int64(len(old)) {
		// Clipped, so that the next Write copies: the removed bytes may still be used by synced.
		f.n.data = slices.Clip(old[:size])
		return nil
	}
	f.n.data = append(slices.Clip(old), make([]byte, size-int64(len(old)))...)
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("stat", false); err != nil {
		return 0, err
	}
	return int64(len(f.n.data)), nil
}

// Mmap returns the current bytes; later writes do not change them.
func (f *memFile) Mmap() ([]byte, func() error, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("mmap", false); err != nil {
		return nil, nil, err
	}
	unmap := func() error { return nil }
	if len(f.n.data) == 0 {
		return nil, unmap, nil
	}
	return slices.Clip(f.n.data), unmap, nil
}

// Close does not sync. It also closes a file of a machine that has stopped.
func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	f.closed = true
	return nil
}
