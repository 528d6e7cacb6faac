package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew moves a file in one step, unless the new name exists. Some file systems do not support
// it.
func renameNew(oldPath, newPath string) error {
	err := retryEINTR(func() error {
		return unix.Renameat2(unix.AT_FDCWD, oldPath, unix.AT_FDCWD, newPath, unix.RENAME_NOREPLACE)
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return errors.ErrUnsupported
	}
	return &os.LinkError{Op: "rename", Old: oldPath, New: newPath, Err: err}
}

// WriteEarly calls sync_file_range. It ignores errors, which Sync reports, too.
func (f *diskFile) WriteEarly(from, to int64) {
	_ = unix.SyncFileRange(int(f.f.Fd()), from, to-from, unix.SYNC_FILE_RANGE_WRITE)
}

// syncFile calls fdatasync, which writes the data and the size, but does not write the times to the
// journal.
func syncFile(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	closed := conn.Control(func(fd uintptr) {
		err = retryEINTR(func() error { return unix.Fdatasync(int(fd)) })
	})
	if closed != nil {
		err = os.ErrClosed // the only possible cause, for which Control returns a different error
	}
	if err != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}

// mapNoReserve lets a mapping be larger than the memory that is free.
const mapNoReserve = unix.MAP_NORESERVE
