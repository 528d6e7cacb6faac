package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile uses fdatasync, which writes the data and the size but spares the journal the times.
func syncFile(f *os.File) error {
	err := retryEINTR(func() error { return unix.Fdatasync(int(f.Fd())) })
	if err != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}
