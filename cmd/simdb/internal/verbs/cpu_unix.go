//go:build unix

package verbs

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of this process so far, of the user and of the system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
