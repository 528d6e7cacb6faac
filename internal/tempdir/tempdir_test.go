package tempdir

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestLockedTemp makes temporary folders while others sweep: no folder in use is removed.
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
				sweep(parent)
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

// TestSweepPrivate sweeps in a folder where another user could have made a folder. That folder
// stays, because its content is not trusted; the user's own folder is removed.
func TestSweepPrivate(t *testing.T) {
	if os.Getuid() < 0 {
		t.Skip("the system has no owners of files")
	}
	parent := t.TempDir()
	for name, mode := range map[string]os.FileMode{"simdb-1": 0o777, "simdb-2": 0o700} {
		dir := filepath.Join(parent, name)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, tempLock), nil, 0o666), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
	}
	sweep(parent)
	if left, err := os.ReadDir(parent); err != nil || len(left) != 1 || left[0].Name() != "simdb-1" {
		t.Errorf("left: %v, %v", left, err)
	}
}
