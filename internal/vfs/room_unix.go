//go:build !windows

package vfs

import "syscall"

// fullErrors are the system's errors for a full disk.
var fullErrors = []error{syscall.ENOSPC, syscall.EDQUOT}
