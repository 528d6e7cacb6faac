//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// lockFile locks f; held reports that another open file has the lock. A flock belongs to the open
// file, not to the process. It therefore excludes other openers in the same process, too, and ends
// with the process.
func lockFile(f *os.File) (held bool, err error) {
	err = retryEINTR(func() error { return flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return true, nil
	case slices.ContainsFunc(noLocks, func(none error) bool { return errors.Is(err, none) }):
		err = fmt.Errorf("%w (%w)", ErrNoLocks, err)
	}
	return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
}

// flock is the system call, which tests replace.
var flock = unix.Flock

// noLocks are the errors of flock on mounts without locks: network file systems whose lock daemon
// does not answer or is switched off, FUSE, and shared folders of virtual machines.
var noLocks = []error{unix.ENOLCK, unix.ENOSYS, unix.ENOTSUP, unix.EOPNOTSUPP, unix.EINVAL}

func unlockFile(f *os.File) error {
	return retryEINTR(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) })
}

func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// reserve maps memory that uses none until it is written.
func reserve(size int) ([]byte, func() error, error) {
	data, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|mapNoReserve)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

const syncsDirs = true

// nonblock opens a pipe without waiting for its other end. It has no effect on regular files.
const nonblock = unix.O_NONBLOCK

// syncDir ignores "not supported": file systems that cannot sync a directory have nothing to sync.
func syncDir(d *os.File) error {
	err := d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

func retryEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
