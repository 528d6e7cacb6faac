//go:build !linux

package vfs

// Advise does nothing: only Linux has large pages in its cache of files.
func (f *diskFile) Advise(data []byte, from, to int64, a Advice) bool { return false }

// Cached returns true.
func (f *diskFile) Cached(data []byte, at int64) bool { return true }

// Memory returns how many bytes of memory there are for this process and its cache of files; 0
// means unknown.
func Memory() int64 { return 0 }
