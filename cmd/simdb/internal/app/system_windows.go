package app

import (
	"errors"

	"golang.org/x/sys/windows"
)

// closedBySystem implements ReaderGone for errors of the system. ERROR_NO_DATA means "the pipe is
// being closed".
func closedBySystem(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
