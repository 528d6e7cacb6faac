//go:build !linux

package catalog

import "testing"

func smallDisk(t *testing.T) string {
	t.Skip("needs a small file system to mount")
	return ""
}
