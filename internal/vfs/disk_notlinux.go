//go:build !linux

package vfs

import (
	"errors"
	"os"
)

// renameNew fails, because this system has no such call.
func renameNew(_, _ string) error { return errors.ErrUnsupported }

func syncFile(f *os.File) error { return f.Sync() }

// Advise does nothing: only Linux has large pages in its cache of files.
func (f *diskFile) Advise(data []byte, from, to int64, a Advice) bool { return false }

// Cached returns true.
func (f *diskFile) Cached(data []byte, at int64) bool { return true }

// HugePages does nothing: other systems choose the sizes of pages themselves.
func HugePages[T any]([]T) {}

// Free returns false: the number of free bytes is unknown on this system.
func Free(dir string) (n int64, ok bool) { return 0, false }

// mapNoReserve is not needed: these systems reserve memory when it is written.
const mapNoReserve = 0
