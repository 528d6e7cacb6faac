//go:build unix

package app

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// private reports whether only the user of this process changes what is in a folder.
func private(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && sys.Uid == uint32(os.Getuid()) && st.Mode().Perm()&0o077 == 0
}

// closedBySystem is ReaderGone for the system's errors.
func closedBySystem(err error) bool { return errors.Is(err, syscall.EPIPE) }
