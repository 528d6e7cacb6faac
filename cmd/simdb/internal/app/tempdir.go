package app

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/internal/vfs"
)

// TempDir makes a temporary folder, in the one that the system has for them, that is removed when
// the process ends.
func (a *App) TempDir() (string, error) { return a.TempDirIn("") }

// tempLock is the file in a temporary folder that its process has locked. If nobody has, the
// process was killed.
const tempLock = "LOCK"

// TempDirIn is TempDir in a folder; "" means that of the system. It removes what killed processes
// have left there.
func (a *App) TempDirIn(parent string) (string, error) {
	a.Context() // so that Ctrl-C removes it, too
	sweep(parent)
	dir, err := os.MkdirTemp(parent, "simdb-*")
	if err != nil {
		return "", err
	}
	// Without a lock, as on a file system that has none, nobody removes the folder by mistake: a
	// sweep needs the lock.
	lock, err := vfs.Disk.Lock(filepath.Join(dir, tempLock))
	if err != nil {
		lock = nil
	}
	a.onExit(func() {
		os.RemoveAll(dir)
		if lock != nil {
			lock.Close()
		}
	})
	return dir, nil
}

// sweep removes the temporary folders of processes that were killed. What it cannot remove belongs
// to somebody else.
func sweep(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "simdb-")
		dir := filepath.Join(parent, e.Name())
		if !ok || !e.IsDir() || strings.Trim(number, "0123456789") != "" {
			continue
		}
		if st, err := os.Lstat(filepath.Join(dir, tempLock)); err != nil || !st.Mode().IsRegular() {
			continue
		}
		if lock, err := vfs.Disk.Lock(filepath.Join(dir, tempLock)); err == nil {
			os.RemoveAll(dir)
			lock.Close()
		}
	}
}
