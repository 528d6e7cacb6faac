// Package tempdir makes temporary folders. If their process is killed, the next process that makes
// one removes them.
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

// tempLock is the name of a file in a temporary folder, which its process has locked. If it is not
// locked, the process was killed.
const tempLock = "LOCK"

// New makes a temporary folder in parent; "" stands for the system's folder. It also removes the
// folders there that killed processes have left behind. remove removes the new folder.
func New(parent string) (dir string, remove func(), err error) {
	dir, lock, err := lockedTemp(parent)
	if err != nil {
		return "", nil, err
	}
	sweep(parent)
	return dir, func() { removeLocked(dir, lock) }, nil
}

// removeLocked removes a temporary folder and releases its lock, which may be nil. On Windows, the
// lock file cannot be removed before that.
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

// lockedTemp makes a temporary folder and locks it. If the file system does not support locks, lock
// is nil; the folder is still safe, because a sweep needs the lock to remove it. Another process's
// sweep may find the lock file before it is locked, and remove the folder: lockedTemp then makes
// another one.
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

// sweep removes the temporary folders of killed processes of this user. It ignores folders that
// others can write, and folders without a lock file, whose process is about to lock it.
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
