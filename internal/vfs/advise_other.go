//go:build !linux

package vfs

// AdviseIndex does nothing: only Linux has large pages in its cache of files.
func (f *diskFile) AdviseIndex(data []byte, from int64) {}
