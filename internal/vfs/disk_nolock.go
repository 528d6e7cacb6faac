//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package vfs

import (
	"os"
	"path/filepath"
	"sync"
)

// locked counts the shared locks of files by their absolute names; -1 is an exclusive lock. These
// systems have no lock that ends with its process, so a lock excludes openers in this process only.
var locked = struct {
	sync.Mutex
	files map[string]int
}{files: map[string]int{}}

func lockFile(f *os.File, exclusive bool) (held bool, err error) {
	name, err := filepath.Abs(f.Name())
	if err != nil {
		return false, err
	}
	locked.Lock()
	defer locked.Unlock()
	switch n := locked.files[name]; {
	case n < 0 || n > 0 && exclusive:
		return true, nil
	case exclusive:
		locked.files[name] = -1
	default:
		locked.files[name]++
	}
	return false, nil
}

func unlockFile(f *os.File) error {
	name, err := filepath.Abs(f.Name())
	if err != nil {
		return err
	}
	locked.Lock()
	defer locked.Unlock()
	if locked.files[name]--; locked.files[name] <= 0 {
		delete(locked.files, name)
	}
	return nil
}
