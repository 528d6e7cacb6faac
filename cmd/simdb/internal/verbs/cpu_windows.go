package verbs

import (
	"time"

	"golang.org/x/sys/windows"
)

// cpuTime returns the processor time of this process so far, of the user and of the system.
func cpuTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return steps(kernel) + steps(user)
}

// steps returns a duration, which a Filetime has in steps of 100 ns.
func steps(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
