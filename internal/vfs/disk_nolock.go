//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package vfs

import (
	"os"
	"path/filepath"
	"sync"
)

// locked holds the absolute names of the locked files. These systems have no lock that ends with its process, so a lock excludes
// openers in this process only.
var locked sync.Map

func lockFile(f *os.File) (held bool, err error) {
	name, err := filepath.Abs(f.Name())
	if err != nil {
		return false, err
	}
	_, held = locked.LoadOrStore(name, true)
	return held, nil
}

func unlockFile(f *os.File) error {
	name, err := filepath.Abs(f.Name())
	if err != nil {
		return err
	}
	locked.Delete(name)
	return nil
}
