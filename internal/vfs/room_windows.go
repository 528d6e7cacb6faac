package vfs

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// fullErrors are the system's errors for a full disk; ENOSPC is one of package syscall's own.
var fullErrors = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED, syscall.ENOSPC}
