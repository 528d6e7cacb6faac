//go:build !unix

package main

import "time"

var started = time.Now()

// cpuTime is the time that has passed: the processor time where nothing else runs.
func cpuTime() time.Duration { return time.Since(started) }
