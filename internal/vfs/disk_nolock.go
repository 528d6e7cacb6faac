//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package vfs

import (
	"os"
	"path/filepath"
	"sync"
)

// locked has the absolute names of locked files. These systems have no lock that ends with its
// process, so a lock only excludes openers in the same process.
var locked = struct {
	sync.Mutex
	files map[string]bool
}{files: map[string]bool{}}

func lockFile(f *os.File) (held bool, err error) {
	name, err := filepath.Abs(f.Name())
	if err != nil {
		return false, err
	}
	locked.Lock()
	defer locked.Unlock()
	held = locked.files[name]
	locked.files[name] = true
	return held, nil
}

func reserve(size int) ([]byte, func() error, error) {
	data, err := allocate(size)
	return data, func() error { return nil }, err
}

func unlockFile(f *os.File) error {
	name, err := filepath.Abs(f.Name())
	if err != nil {
		return err
	}
	locked.Lock()
	defer locked.Unlock()
	delete(locked.files, name)
	return nil
}
