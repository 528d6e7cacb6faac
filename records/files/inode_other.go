//go:build !unix

package files

import "io/fs"

// inode returns a key that is equal for names of the same file.
func inode(info fs.FileInfo) [2]uint64 {
	return [2]uint64{uint64(info.Size()), uint64(info.ModTime().UnixNano())}
}
