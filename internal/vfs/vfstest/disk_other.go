//go:build !linux

package vfstest

import "testing"

// SmallDisk skips the test: small file systems are only mounted on Linux.
func SmallDisk(t testing.TB, _ int) string {
	t.Helper()
	t.Skip("needs a small file system to mount")
	return ""
}
