package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// WriteEarly uses sync_file_range. What fails here fails in Sync, too.
func (f *diskFile) WriteEarly(from, to int64) {
	_ = unix.SyncFileRange(int(f.f.Fd()), from, to-from, unix.SYNC_FILE_RANGE_WRITE)
}

// syncFile uses fdatasync, which writes the data and the size but spares the journal the times.
func syncFile(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	closed := conn.Control(func(fd uintptr) {
		err = retryEINTR(func() error { return unix.Fdatasync(int(fd)) })
	})
	if closed != nil {
		err = os.ErrClosed // the one cause, which Control reports by an error of its own
	}
	if err != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}
