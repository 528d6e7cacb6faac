//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package vfs

import (
	"errors"
	"io"
	"os"
)

// mapFile reads the file instead of mapping it.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	data, release, err := reserve(size)
	if err != nil {
		return nil, nil, err
	}
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, int64(size)), data); err != nil {
		return nil, nil, errors.Join(err, release())
	}
	return data, release, nil
}

// syncsDirs is false: these systems have no call for it, and write names through.
const syncsDirs = false

// nonblock does not exist on these systems.
const nonblock = 0

func syncDir(*os.File) error { return nil }
