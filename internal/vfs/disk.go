package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Disk is the operating system's file system.
var Disk FS = disk{calls: hostCalls{}}

// disk implements FS with the operating system's file system.
type disk struct {
	calls calls
	root  string // path of the directory that names are relative to; "" if names are arbitrary paths
}

// calls are functions of package os that *os.Root also has as methods.
type calls interface {
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
	Remove(name string) error
	RemoveAll(name string) error
	Rename(oldName, newName string) error
	Link(oldName, newName string) error
	MkdirAll(name string, perm os.FileMode) error
	Stat(name string) (os.FileInfo, error)
	Lstat(name string) (os.FileInfo, error)
	OpenRoot(name string) (*os.Root, error)
}

// hostCalls are the functions of package os.
type hostCalls struct{}

func (hostCalls) OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}
func (hostCalls) Remove(name string) error                     { return os.Remove(name) }
func (hostCalls) RemoveAll(name string) error                  { return os.RemoveAll(name) }
func (hostCalls) Rename(oldName, newName string) error         { return os.Rename(oldName, newName) }
func (hostCalls) Link(oldName, newName string) error           { return os.Link(oldName, newName) }
func (hostCalls) MkdirAll(name string, perm os.FileMode) error { return os.MkdirAll(name, perm) }
func (hostCalls) Stat(name string) (os.FileInfo, error)        { return os.Stat(name) }
func (hostCalls) Lstat(name string) (os.FileInfo, error)       { return os.Lstat(name) }
func (hostCalls) OpenRoot(name string) (*os.Root, error)       { return os.OpenRoot(name) }

// diskRoot is an open directory.
type diskRoot struct {
	disk
	io.Closer
}

func (d disk) OpenRoot(dir string) (Root, error) {
	r, err := d.calls.OpenRoot(dir)
	if err != nil {
		return nil, d.whole(err)
	}
	return diskRoot{disk{calls: r, root: r.Name()}, r}, nil
}

// whole replaces the relative names in an error of an os.Root by full paths.
func (d disk) whole(err error) error {
	switch e := err.(type) {
	case *os.PathError:
		e.Path = d.path(e.Path)
	case *os.LinkError:
		e.Old, e.New = d.path(e.Old), d.path(e.New)
	}
	return err
}

func (d disk) path(name string) string {
	if d.root == "" {
		return name
	}
	return filepath.Join(d.root, name)
}

// errTooLarge occurs only if int has 32 bits.
var errTooLarge = errors.New("file too large for the address space")

// diskFile adds methods that os.File lacks. Its offset is the end of the file, except after Open,
// which never writes.
type diskFile struct{ f *os.File }

func (d disk) Create(name string) (File, error) {
	// O_APPEND, so that a Write after Truncate goes to the end.
	return d.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND)
}

func (d disk) Open(name string) (File, error) { return d.open(name, os.O_RDONLY) }

func (d disk) Append(name string) (File, error) { return d.open(name, os.O_RDWR|os.O_APPEND) }

func (d disk) open(name string, flag int) (File, error) {
	f, err := d.openFile(name, flag)
	if err != nil {
		return nil, err
	}
	return &diskFile{f: f}, nil
}

// openFile opens a regular file. It returns an error at once for anything else, and does not wait
// for the other end of a pipe.
func (d disk) openFile(name string, flag int) (*os.File, error) {
	f, err := d.calls.OpenFile(name, flag|nonblock, 0o644)
	if err != nil {
		return nil, d.whole(err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: d.path(name), Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// errNotRegular is returned if a folder, a pipe or a device has the name of a file.
var errNotRegular = errors.New("not a regular file")

func (d disk) openDir(name string) (*os.File, error) {
	f, err := d.calls.OpenFile(name, os.O_RDONLY|nonblock, 0)
	return f, d.whole(err)
}

func (d disk) Remove(name string) error { return d.whole(d.calls.Remove(name)) }

func (d disk) Rename(oldName, newName string) error { return d.whole(d.calls.Rename(oldName, newName)) }

// RenameNew uses a special call if the system has one, else a hard link, which is as good except
// that both names exist for an instant.
func (d disk) RenameNew(oldName, newName string) error {
	if d.root == "" { // otherwise names are not paths
		if err := renameNew(oldName, newName); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	err := d.calls.Link(oldName, newName)
	switch {
	case err == nil:
		return d.Remove(oldName)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return d.whole(err)
	}
	if _, err := d.calls.Lstat(newName); err == nil {
		return &os.LinkError{Op: "rename", Old: d.path(oldName), New: d.path(newName), Err: fs.ErrExist}
	}
	return d.Rename(oldName, newName)
}

// Link implements Linker.
func (d disk) Link(oldName, newName string) error { return d.whole(d.calls.Link(oldName, newName)) }

func (d disk) MkdirAll(dir string) error { return d.whole(d.calls.MkdirAll(dir, 0o755)) }

func (d disk) RemoveAll(dir string) error { return d.whole(d.calls.RemoveAll(dir)) }

func (d disk) List(dir string) ([]string, error) {
	f, err := d.openDir(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (d disk) Stat(name string) (Info, error) {
	st, err := d.calls.Stat(name)
	if err != nil {
		return Info{}, d.whole(err)
	}
	if st.IsDir() {
		return Info{IsDir: true}, nil
	}
	return Info{Size: st.Size()}, nil
}

func (d disk) SyncDir(dir string) error {
	if !syncsDirs {
		return nil
	}
	f, err := d.openDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(f), f.Close())
}

func (d disk) HostFile(name string, flag int) (*os.File, error) {
	return d.openFile(name, flag&^os.O_CREATE)
}

func (disk) Commit(_ string, commit func() error) error { return commit() }

// Lock writes the pid only after it has acquired the lock, so for an instant a loser may read the
// pid of the previous holder. If a file is removed before it is locked, its lock is useless: then
// Lock locks the file that now has the name.
func (d disk) Lock(name string) (io.Closer, error) {
	for {
		f, err := d.openFile(name, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, err
		}
		l, err := takeLock(f)
		if err != nil {
			return nil, err
		}
		locked, err := f.Stat()
		named, missing := d.calls.Stat(name)
		if err != nil || missing == nil && os.SameFile(locked, named) {
			writePID(f) // best effort: a database must open on a full disk, so that documents can be deleted
			return l, nil
		}
		l.Close()
	}
}

// takeLock locks f, and closes f if that fails.
func takeLock(f *os.File) (io.Closer, error) {
	held, err := lockFile(f)
	if err == nil && !held {
		return &diskLock{f: f}, nil
	}
	if held {
		err = &LockedError{File: f.Name(), PID: readPID(f)}
	}
	f.Close()
	return nil, err
}

// LockOpen locks an open file, and waits while another open file has the lock. unlock ends the lock, as
// the end of the process does. On a file system without locks it does nothing.
func LockOpen(f *os.File) (unlock func() error, err error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		held, err := lockFile(f)
		switch {
		case errors.Is(err, ErrNoLocks):
			return func() error { return nil }, nil
		case err != nil:
			return nil, err
		case !held:
			return func() error { return unlockFile(f) }, nil
		}
		time.Sleep(wait)
	}
}

type diskLock struct {
	mu sync.Mutex
	f  *os.File // nil once released
}

// Close releases the lock; a second call does nothing.
func (l *diskLock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	err := l.f.Truncate(0) // so that a process that takes the lock and cannot write its id is not mistaken for this one
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

// readPID returns the process id in the file, or 0 if there is none.
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

func (f *diskFile) Truncate(size int64) error { return truncate(f.f, size) }

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
