//go:build !unix && !windows

package app

import (
	"errors"
	"syscall"
)

// closedBySystem implements ReaderGone for errors of the system.
func closedBySystem(err error) bool { return errors.Is(err, syscall.EPIPE) }
