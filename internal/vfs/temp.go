package vfs

import "os"

// Temp makes a temporary file in a folder, "" for that of the system, with the pattern of
// os.CreateTemp. Where open files can be removed, it has no name any more, and is gone even if the
// process is killed; RemoveTemp removes it elsewhere.
func Temp(dir, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err == nil {
		os.Remove(f.Name())
	}
	return f, err
}

// RemoveTemp closes and removes a file of Temp, which may be nil.
func RemoveTemp(f *os.File) {
	if f != nil {
		f.Close()
		os.Remove(f.Name())
	}
}
