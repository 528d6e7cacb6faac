//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// diskShared is a mapped file. Each member has a shared flock.
type diskShared struct {
	f     *os.File
	data  []byte
	close func() error
}

// OpenShared implements Sharer.
func (d disk) OpenShared(name string) (SharedMemory, error) {
	f, err := d.openFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	s, err := shareFile(f, d.path(name))
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func shareFile(f *os.File, path string) (*diskShared, error) {
	if kind := networkOf(int(f.Fd())); kind != "" {
		return nil, errNetwork(path, kind)
	}
	const size = SharedWords * 8
	st, err := f.Stat()
	if err == nil && st.Size() < size {
		// Written, not only lengthened: on a full disk a touched page without a block is a fault.
		_, err = f.WriteAt(make([]byte, size), 0)
	}
	if err != nil {
		return nil, &os.PathError{Op: "share", Path: path, Err: err}
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	s := &diskShared{f, data, sync.OnceValue(func() error { return errors.Join(unlockFile(f), f.Close()) })} // the mapping keeps the file open, and locked
	runtime.AddCleanup(s, func(data []byte) { unix.Munmap(data) }, data)
	return s, nil
}

// Words implements SharedMemory.
func (s *diskShared) Words() *[SharedWords]atomic.Uint64 {
	return (*[SharedWords]atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(s.data)))
}

// Join tries to make the lock exclusive. Linux gives a lock up before it tries, so a failed attempt
// must lock again.
func (s *diskShared) Join() (bool, error) {
	locked := func(how int) error { return retryEINTR(func() error { return flock(int(s.f.Fd()), how) }) }
	alone := locked(unix.LOCK_EX | unix.LOCK_NB)
	if err := locked(unix.LOCK_SH); err != nil {
		return false, &os.PathError{Op: "flock", Path: s.f.Name(), Err: err}
	}
	return alone == nil, nil
}

// Close implements SharedMemory; a second call does nothing.
func (s *diskShared) Close() error { return s.close() }
