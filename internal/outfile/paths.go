package outfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/simdb/simdb/internal/place"
)

// IsStdout reports whether a path is standard output.
func IsStdout(path string) bool {
	n, ok := descriptor(path)
	return path == "-" || ok && n == 1
}

// descriptor returns the number of the open file that a system path, such as /dev/fd/3, names.
func descriptor(path string) (n int, ok bool) {
	switch path {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if digits, is := strings.CutPrefix(path, dir); is {
			n, err := strconv.Atoi(digits)
			return n, err == nil
		}
	}
	return 0, false
}

// IsDescriptor reports whether a path is a system name of an open file.
func IsDescriptor(path string) bool {
	_, ok := descriptor(path)
	return ok
}

// stdoutInfo describes the file that standard output was redirected to, or returns nil.
func stdoutInfo() fs.FileInfo {
	if info, err := os.Stdout.Stat(); err == nil && info.Mode().IsRegular() {
		return info
	}
	return nil
}

// isDirect reports whether a file is written directly, because it has no content that could be
// lost.
func isDirect(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeCharDevice|fs.ModeNamedPipe) != 0
}

// called returns the name of an output for messages.
func called(flag, path string) string { return strings.TrimSpace(flag + " " + path) }

// folder returns the folder of a file. It does not clean the path, because only the system knows
// the meaning of ".." after a symbolic link.
func folder(path string) string {
	dir, _ := filepath.Split(path)
	return cmp.Or(dir, ".")
}

// samePlace reports whether two paths name the same file in the same folder, even if it does not
// exist. It takes into account whether the file system ignores case.
func samePlace(a, b string) bool {
	if place.IsRemote(a) || place.IsRemote(b) {
		return a == b
	}
	x, y := filepath.Base(a), filepath.Base(b)
	if !strings.EqualFold(x, y) {
		return false
	}
	dirA, errA := os.Stat(folder(a))
	dirB, errB := os.Stat(folder(b))
	return errA == nil && errB == nil && os.SameFile(dirA, dirB) && (x == y || foldsCase(folder(a)))
}

// foldsCase reports whether a folder can be opened with its name in another case.
func foldsCase(dir string) bool {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	for abs != filepath.Dir(abs) {
		base := filepath.Base(abs)
		other := strings.ToUpper(base)
		if other == base {
			other = strings.ToLower(base)
		}
		if other != base {
			a, errA := os.Stat(abs)
			b, errB := os.Stat(filepath.Join(filepath.Dir(abs), other))
			return errA == nil && errB == nil && os.SameFile(a, b)
		}
		abs = filepath.Dir(abs)
	}
	return false
}

// Cause returns the cause of a file error without the file's name, which messages already have.
func Cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// IsFolderName reports whether the name of an output has the form of a folder name.
func IsFolderName(path string) bool { return path != "" && os.IsPathSeparator(path[len(path)-1]) }
