//go:build unix

package outfile

import "golang.org/x/sys/unix"

// writable returns an error if files cannot be created in a folder.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
