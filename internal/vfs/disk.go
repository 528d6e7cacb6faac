package vfs

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Disk is the operating system's file system.
var Disk FS = diskFS{}

type diskFS struct{}

// errTooLarge is met only where int has 32 bits.
var errTooLarge = errors.New("file too large for the address space")

// diskFile adds what os.File lacks. Its offset is the file's end, except after Open, which never writes.
type diskFile struct{ f *os.File }

func (diskFS) Create(name string) (File, error) {
	// O_APPEND, so that a Write after Truncate goes to the end.
	return openDisk(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND)
}

func (diskFS) Open(name string) (File, error) { return openDisk(name, os.O_RDONLY) }

func (diskFS) Append(name string) (File, error) { return openDisk(name, os.O_RDWR|os.O_APPEND) }

func openDisk(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, 0o644)
	if err != nil {
		return nil, err
	}
	return &diskFile{f: f}, nil
}

func (diskFS) Remove(name string) error { return os.Remove(name) }

func (diskFS) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

func (diskFS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o755) }

func (diskFS) RemoveAll(dir string) error { return os.RemoveAll(dir) }

func (diskFS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (diskFS) Stat(name string) (Info, error) {
	st, err := os.Stat(name)
	if err != nil {
		return Info{}, err
	}
	if st.IsDir() {
		return Info{IsDir: true}, nil
	}
	return Info{Size: st.Size()}, nil
}

func (diskFS) SyncDir(dir string) error { return syncDir(dir) }

func (diskFS) HostPath(name string) (string, error) {
	if _, err := os.Stat(name); err != nil {
		return "", err
	}
	return name, nil
}

func (diskFS) Commit(_ string, commit func() error) error { return commit() }

// Lock writes the pid only once it holds the lock, so a loser may read that of the holder before last for an instant.
func (diskFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	l, err := takeLock(f, true)
	if err != nil {
		return nil, err
	}
	writePID(f) // as a courtesy: on a full disk a database must open, so that documents can be deleted
	return l, nil
}

func (diskFS) RLock(name string) (io.Closer, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return takeLock(f, false)
}

// takeLock locks f, and closes it if that fails.
func takeLock(f *os.File, exclusive bool) (io.Closer, error) {
	held, err := lockFile(f, exclusive)
	if err == nil && !held {
		return &diskLock{f: f, exclusive: exclusive}, nil
	}
	if held {
		err = &LockedError{File: f.Name(), PID: readPID(f)}
	}
	f.Close()
	return nil, err
}

type diskLock struct {
	mu        sync.Mutex
	f         *os.File // nil once released
	exclusive bool
}

// Close releases the lock; a second call does nothing.
func (l *diskLock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	var err error
	if l.exclusive {
		err = l.f.Truncate(0) // whoever fails to get the lock from readers shall not blame this process
	}
	if e := unlockFile(l.f); err == nil {
		err = e
	}
	if e := l.f.Close(); err == nil {
		err = e
	}
	l.f = nil
	return err
}

func writePID(f *os.File) {
	if f.Truncate(0) == nil {
		f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
}

// readPID returns 0 if the file does not hold a process id.
func readPID(f *os.File) int {
	var buf [24]byte
	n, _ := f.ReadAt(buf[:], 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

func (f *diskFile) Write(p []byte) (int, error) { return f.f.Write(p) }

func (f *diskFile) ReadAt(p []byte, off int64) (int, error) { return f.f.ReadAt(p, off) }

func (f *diskFile) Close() error { return f.f.Close() }

func (f *diskFile) Sync() error { return syncFile(f.f) }

func (f *diskFile) Truncate(size int64) error { return f.f.Truncate(size) }

func (f *diskFile) Size() (int64, error) {
	st, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

func (f *diskFile) Mmap() ([]byte, func() error, error) {
	size, err := f.Size()
	if err != nil {
		return nil, nil, err
	}
	if size == 0 {
		return nil, func() error { return nil }, nil
	}
	if size != int64(int(size)) {
		return nil, nil, &os.PathError{Op: "mmap", Path: f.f.Name(), Err: errTooLarge}
	}
	data, unmap, err := mapFile(f.f, int(size))
	if err != nil {
		return nil, nil, &os.PathError{Op: "mmap", Path: f.f.Name(), Err: err}
	}
	return data, sync.OnceValue(unmap), nil
}
