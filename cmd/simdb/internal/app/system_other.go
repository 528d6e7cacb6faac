//go:build !unix && !windows

package app

import (
	"errors"
	"io/fs"
	"syscall"
)

// private is true: the folder for temporary files is the user's own on these systems.
func private(fs.FileInfo) bool { return true }

// closedBySystem is ReaderGone for the system's errors.
func closedBySystem(err error) bool { return errors.Is(err, syscall.EPIPE) }
