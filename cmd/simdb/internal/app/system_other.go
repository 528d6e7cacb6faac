//go:build !unix && !windows

package app

import (
	"errors"
	"syscall"
)

// closedBySystem is ReaderGone for the system's errors.
func closedBySystem(err error) bool { return errors.Is(err, syscall.EPIPE) }
