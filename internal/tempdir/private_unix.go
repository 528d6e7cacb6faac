//go:build unix

package tempdir

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether only the user of this process can change the contents of a folder.
func private(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && sys.Uid == uint32(os.Getuid()) && st.Mode().Perm()&0o077 == 0
}
