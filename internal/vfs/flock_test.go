//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoLocks locks a file on a system without locks. The error gives the reason and the name, and
// does not say that the lock is held. Other errors are passed on.
func TestNoLocks(t *testing.T) {
	defer func(call func(int, int) error) { flock = call }(flock)
	name := filepath.Join(t.TempDir(), "LOCK")
	for errno, none := range map[unix.Errno]bool{
		unix.ENOLCK: true, unix.ENOSYS: true, unix.ENOTSUP: true, unix.EINVAL: true, unix.EIO: false, unix.EBADF: false,
	} {
		flock = func(int, int) error { return errno }
		_, err := Disk.Lock(name)
		if errors.Is(err, ErrNoLocks) != none || errors.Is(err, ErrLocked) || !errors.Is(err, errno) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v", errno, err)
		}
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for errno, none := range map[unix.Errno]bool{unix.ENOLCK: true, unix.EIO: false} {
		flock = func(int, int) error { return errno }
		if unlock, err := LockOpen(f); none != (err == nil) || none && unlock() != nil {
			t.Errorf("an open file: %v: %v", errno, err)
		}
	}
	flock = func(int, int) error { return unix.EWOULDBLOCK }
	if _, err := Disk.Lock(name); !errors.Is(err, ErrLocked) || errors.Is(err, ErrNoLocks) {
		t.Errorf("held: %v", err)
	}
}

// TestLockOpen locks a file that is open twice.
func TestLockOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	var files [2]*os.File
	for i := range files {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	unlock, err := LockOpen(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func(call func(int, int) error) { flock = call }(flock)
	refused := make(chan struct{})
	var once sync.Once
	flock = func(f, how int) error {
		err := unix.Flock(f, how)
		if err != nil {
			once.Do(func() { close(refused) })
		}
		return err
	}
	second := make(chan error)
	go func() {
		unlock, err := LockOpen(files[1])
		if err == nil {
			err = unlock()
		}
		second <- err
	}()
	select {
	case <-refused:
	case err := <-second:
		t.Fatal("it does not wait:", err)
	}
	if err := errors.Join(unlock(), <-second); err != nil {
		t.Error(err)
	}
}

// TestNotRegular opens things other than files under the name of a file. The error names them at
// once; a pipe would wait for its other end.
func TestNotRegular(t *testing.T) {
	dir := t.TempDir()
	pipe, folder := filepath.Join(dir, "pipe"), filepath.Join(dir, "folder")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	root, err := Disk.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	opens := map[string]func() error{}
	for _, name := range []string{pipe, folder, "/dev/null"} {
		opens["open "+name] = func() error { _, err := Disk.Open(name); return err }
		opens["append "+name] = func() error { _, err := Disk.Append(name); return err }
		opens["lock "+name] = func() error { _, err := Disk.Lock(name); return err }
		opens["host "+name] = func() error { _, err := Disk.HostFile(name, os.O_RDONLY); return err }
	}
	opens["in root "+pipe] = func() error { _, err := root.Open("pipe"); return err }
	for what, open := range opens {
		_, name, _ := strings.Cut(what, "/")
		if err := open(); err == nil || !strings.Contains(err.Error(), name) { // it does not wait
			t.Errorf("%s: %v", what, err)
		}
	}
}
