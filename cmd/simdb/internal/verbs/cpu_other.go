//go:build !unix && !windows

package verbs

import "time"

var processStart = time.Now()

// cpuTime returns the time since this process began: that of the processor is not known.
func cpuTime() time.Duration { return time.Since(processStart) }
