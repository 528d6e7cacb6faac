package app

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// private is true: the folder for temporary files is the user's own.
func private(fs.FileInfo) bool { return true }

// closedBySystem is ReaderGone for the system's errors: ERROR_NO_DATA is "the pipe is being
// closed".
func closedBySystem(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
