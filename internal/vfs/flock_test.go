//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoLocks locks a file where the system has no locks: it is refused, with the reason and the
// name, and not taken for a lock that is held. Other errors are passed on.
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
	flock = func(int, int) error { return unix.EWOULDBLOCK }
	if _, err := Disk.Lock(name); !errors.Is(err, ErrLocked) || errors.Is(err, ErrNoLocks) {
		t.Errorf("held: %v", err)
	}
}
