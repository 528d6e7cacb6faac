package outfile

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a file in a folder that has no name until link gives it one, so that nothing is
// left behind when the process is killed. It returns an error if the file system does not support
// such files, or cannot link them.
func openUnnamed(dir string) (*os.File, error) {
	probe, err := openTmpfile(dir)
	if err != nil {
		return nil, err
	}
	defer probe.Close()
	if err := link(probe); err != nil {
		return nil, err
	}
	if err := os.Remove(probe.Name()); err != nil {
		return nil, err
	}
	return openTmpfile(dir) // a file that was linked and removed cannot be linked again
}

func openTmpfile(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(dir, ".simdb-"+strconv.FormatUint(rand.Uint64(), 10)+".tmp")), nil
}

// link gives a file of openUnnamed its name.
func link(f *os.File) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var linked error
	err = c.Control(func(fd uintptr) {
		open := "/proc/self/fd/" + strconv.FormatUint(uint64(fd), 10)
		linked = unix.Linkat(unix.AT_FDCWD, open, unix.AT_FDCWD, f.Name(), unix.AT_SYMLINK_FOLLOW)
	})
	return errors.Join(err, linked)
}
