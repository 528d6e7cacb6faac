//go:build !linux && !darwin && !windows

package vfs

// Memory returns 0: the amount of memory is unknown on this system.
func Memory() int64 { return 0 }
