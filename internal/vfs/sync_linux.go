package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

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
