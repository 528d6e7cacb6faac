// Package tempdir makes temporary folders that are removed also when their process is killed: by the
// next process that makes one.
package tempdir

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/internal/vfs"
)

// tempLock is the file in a temporary folder that its process has locked. If nobody has, the
// process was killed.
const tempLock = "LOCK"

// New makes a temporary folder in another one, "" for that of the system. remove removes it; what
// killed processes have left there is removed now.
func New(parent string) (dir string, remove func(), err error) {
	dir, lock, err := lockedTemp(parent)
	if err != nil {
		return "", nil, err
	}
	sweep(parent)
	return dir, func() { removeLocked(dir, lock) }, nil
}

// removeLocked removes a temporary folder and gives up its lock, which may be nil. Windows keeps
// the file of the lock until then.
func removeLocked(dir string, lock io.Closer) {
	left := os.RemoveAll(dir)
	if lock == nil {
		return
	}
	lock.Close()
	if left != nil {
		os.Remove(filepath.Join(dir, tempLock))
		os.Remove(dir)
	}
}

// lockedTemp makes a temporary folder and locks it. Where the file system has no locks, lock is
// nil: nobody removes the folder by mistake, as a sweep needs the lock. A sweep of another process
// may find the lock file before it is locked, and remove the folder: then another one is made.
func lockedTemp(parent string) (dir string, lock io.Closer, err error) {
	for {
		if dir, err = os.MkdirTemp(parent, "simdb-*"); err != nil {
			return "", nil, err
		}
		lock, err = vfs.Disk.Lock(filepath.Join(dir, tempLock))
		if err == nil {
			return dir, lock, nil
		}
		if _, held := errors.AsType[*vfs.LockedError](err); !held && !errors.Is(err, fs.ErrNotExist) {
			return dir, nil, nil
		}
	}
}

// sweep removes the temporary folders of this user's processes that were killed. A folder that
// others can write, or without a lock, is not one of them: its process is about to lock it.
func sweep(parent string) {
	parent = cmp.Or(parent, os.TempDir())
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "simdb-")
		if !ok || strings.Trim(number, "0123456789") != "" {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if st, err := os.Lstat(dir); err != nil || !st.IsDir() || !private(st) {
			continue
		}
		if st, err := os.Lstat(filepath.Join(dir, tempLock)); err != nil || !st.Mode().IsRegular() {
			continue
		}
		if lock, err := vfs.Disk.Lock(filepath.Join(dir, tempLock)); err == nil {
			removeLocked(dir, lock)
		}
	}
}
