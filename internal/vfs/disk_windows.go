package vfs

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// lockRange is beyond any content, because Windows locks are mandatory and the process id in the
// file must stay readable.
const lockRange = 1 << 30

func lockFile(f *os.File) (held bool, err error) {
	const flags = windows.LOCKFILE_FAIL_IMMEDIATELY | windows.LOCKFILE_EXCLUSIVE_LOCK
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockRange})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return true, nil
	}
	if err != nil {
		return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return false, nil
}

func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockRange})
}

var reOpenFile = windows.NewLazySystemDLL("kernel32.dll").NewProc("ReOpenFile")

// truncate uses another handle of the file. Package os opens a file with O_APPEND without the right
// FILE_WRITE_DATA, because Windows appends only then, but a change of the size needs this right.
func truncate(f *os.File, size int64) error {
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, _, err := reOpenFile.Call(f.Fd(), windows.GENERIC_WRITE, share, 0)
	if windows.Handle(h) == windows.InvalidHandle {
		return &os.PathError{Op: "truncate", Path: f.Name(), Err: err}
	}
	w := os.NewFile(h, f.Name())
	return errors.Join(w.Truncate(size), w.Close())
}

// reserve allocates memory outside the heap, so that a size for which the system has no memory is an error.
func reserve(size int) ([]byte, func() error, error) {
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, nil, err
	}
	data := unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
	return data, func() error { return windows.VirtualFree(at, 0, windows.MEM_RELEASE) }, nil
}

// InUse reports whether an error of Remove or Rename means that a process has the file open or
// mapped. Windows returns the same error for a file that may not be removed at all.
func InUse(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.Is(err, windows.ERROR_USER_MAPPED_FILE)
}

// fullErrors are the system's errors for a full disk; ENOSPC is one of package syscall's own.
var fullErrors = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED, syscall.ENOSPC}
