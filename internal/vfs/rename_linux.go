package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew moves a file unless there is something of the new name, in one step. Not every file
// system can do that.
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
