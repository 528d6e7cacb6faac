//go:build !unix

package tempdir

import "io/fs"

// private is true: the folder for temporary files is the user's own.
func private(fs.FileInfo) bool { return true }
