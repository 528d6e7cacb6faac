//go:build !unix

package main

import "time"

var started = time.Now()

// cpuTime returns the elapsed time, which equals the processor time if nothing else runs.
func cpuTime() time.Duration { return time.Since(started) }
