package vfs

import "os"

// Temp creates a temporary file in a folder, "" for the system's folder, with the pattern of
// os.CreateTemp. If the system can remove open files, the file has no name and disappears even if
// the process is killed; on other systems RemoveTemp removes it.
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
