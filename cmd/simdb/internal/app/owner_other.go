//go:build !unix

package app

import "io/fs"

// private is true: the folder for temporary files is the user's own on these systems.
func private(fs.FileInfo) bool { return true }
