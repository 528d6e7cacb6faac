//go:build !windows

package vfs

import (
	"errors"
	"os"
	"syscall"
)

// InUse reports whether an error of Remove or Rename means that a process has the file open or
// mapped.
func InUse(err error) bool { return errors.Is(err, syscall.EBUSY) }

func truncate(f *os.File, size int64) error { return f.Truncate(size) }

// fullErrors are the system's errors for a full disk.
var fullErrors = []error{syscall.ENOSPC, syscall.EDQUOT}
