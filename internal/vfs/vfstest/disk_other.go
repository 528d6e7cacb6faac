//go:build !linux

package vfstest

import "testing"

// SmallDisk skips the test: a small file system is mounted on Linux only.
func SmallDisk(t testing.TB, _ int) string {
	t.Helper()
	t.Skip("needs a small file system to mount")
	return ""
}
