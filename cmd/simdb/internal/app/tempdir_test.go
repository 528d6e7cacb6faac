package app

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestLockedTemp makes temporary folders while others sweep: none that is in use is removed.
func TestLockedTemp(t *testing.T) {
	parent := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 300 {
				dir, lock, err := lockedTemp(parent)
				if err != nil || lock == nil {
					t.Errorf("%v, lock %v", err, lock)
					return
				}
				sweep(parent, func(string) {})
				if _, err := os.Stat(filepath.Join(dir, tempLock)); err != nil {
					t.Error(err)
				}
				removeLocked(dir, lock)
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("%d folders are left, %v", len(left), err)
	}
}
