package app

import (
	"errors"

	"golang.org/x/sys/windows"
)

// closedBySystem is ReaderGone for the system's errors: ERROR_NO_DATA is "the pipe is being
// closed".
func closedBySystem(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
