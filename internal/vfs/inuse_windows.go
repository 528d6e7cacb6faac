package vfs

import (
	"errors"

	"golang.org/x/sys/windows"
)

// InUse reports whether an error of Remove or Rename says that a process has the file open or
// mapped. Windows gives no other error for that than for a file that may not be removed at all.
func InUse(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.Is(err, windows.ERROR_USER_MAPPED_FILE)
}
