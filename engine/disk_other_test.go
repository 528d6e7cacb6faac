//go:build !linux

package engine

import (
	"errors"
	"testing"
)

var noSpace = errors.New("no space")

// smallDisk skips the test: a small file system is mounted on Linux only.
func smallDisk(t *testing.T) string {
	t.Helper()
	t.Skip("no small file system here")
	return ""
}
