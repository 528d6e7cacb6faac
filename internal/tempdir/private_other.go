//go:build !unix

package tempdir

import "io/fs"

// private returns true, because each user has a separate folder for temporary files.
func private(fs.FileInfo) bool { return true }
