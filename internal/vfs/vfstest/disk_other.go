//go:build !linux

package vfstest

import (
	"os"
	"testing"
)

// SmallDisk skips the test: small file systems are only mounted on Linux.
func SmallDisk(t testing.TB, _ int) string {
	t.Helper()
	t.Skip("needs a small file system to mount")
	return ""
}

// unlockFile does nothing: tests that end processes run on Linux.
func unlockFile(*os.File) error { return nil }
