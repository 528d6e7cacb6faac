package vfs

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Memory returns the machine's memory in bytes; 0 means unknown.
var Memory = sync.OnceValue(func() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
})
