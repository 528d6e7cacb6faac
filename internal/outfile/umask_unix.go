//go:build unix

package outfile

import (
	"os"
	"sync"
	"syscall"
)

// umask returns the permissions that new files do not get. The system has no call that only queries
// them.
var umask = sync.OnceValue(func() os.FileMode {
	m := syscall.Umask(0o77)
	syscall.Umask(m)
	return os.FileMode(m)
})
