//go:build unix

package files

import (
	"io/fs"
	"syscall"
)

// inode returns the device and inode number of a file.
func inode(info fs.FileInfo) [2]uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return [2]uint64{uint64(st.Dev), uint64(st.Ino)}
	}
	return [2]uint64{}
}
