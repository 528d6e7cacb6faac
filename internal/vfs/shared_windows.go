package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/windows"
)

// diskShared is a mapped file. Each opener has a shared lock beyond its content.
type diskShared struct {
	f     *os.File
	at    uintptr
	close func() error
}

// OpenShared implements Sharer.
func (d disk) OpenShared(name string) (SharedMemory, error) {
	path, err := filepath.Abs(d.path(name))
	if err != nil {
		return nil, err
	}
	volume, err := windows.UTF16PtrFromString(filepath.VolumeName(path) + `\`)
	if err == nil && windows.GetDriveType(volume) == windows.DRIVE_REMOTE {
		return nil, errNetwork(path, filepath.VolumeName(path))
	}
	f, err := d.openFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	s, err := shareFile(f)
	if err != nil {
		f.Close()
		return nil, &os.PathError{Op: "share", Path: path, Err: err}
	}
	return s, nil
}

func shareFile(f *os.File) (*diskShared, error) {
	const size = SharedWords * 8
	st, err := f.Stat()
	if err == nil && st.Size() < size {
		_, err = f.WriteAt(make([]byte, size), 0)
	}
	if err == nil {
		err = lockShared(f)
	}
	if err != nil {
		return nil, err
	}
	m, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READWRITE, 0, size, nil)
	if err != nil {
		return nil, err
	}
	at, err := windows.MapViewOfFile(m, windows.FILE_MAP_READ|windows.FILE_MAP_WRITE, 0, 0, size)
	if err = errors.Join(err, windows.CloseHandle(m)); err != nil {
		return nil, err
	}
	s := &diskShared{f, at, sync.OnceValue(func() error { return errors.Join(unlockFile(f), f.Close()) })} // the mapping keeps the file open, and locked
	runtime.AddCleanup(s, func(at uintptr) { windows.UnmapViewOfFile(at) }, at)
	return s, nil
}

// lockShared waits for Alone, which is quick.
func lockShared(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), 0, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockRange})
}

// Words implements SharedMemory.
func (s *diskShared) Words() *[SharedWords]atomic.Uint64 {
	return *(**[SharedWords]atomic.Uint64)(unsafe.Pointer(&s.at))
}

// Alone implements SharedMemory. Windows does not convert locks.
func (s *diskShared) Alone() (bool, error) {
	if err := unlockFile(s.f); err != nil {
		return false, err
	}
	held, err := lockFile(s.f)
	if err == nil && !held {
		err = unlockFile(s.f)
	}
	return !held && err == nil, errors.Join(err, lockShared(s.f))
}

// Close implements SharedMemory; a second call does nothing.
func (s *diskShared) Close() error { return s.close() }
