package outfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// IsStdout says whether a path is standard output.
func IsStdout(path string) bool {
	n, ok := descriptor(path)
	return path == "-" || ok && n == 1
}

// descriptor returns the number of an open file that has its name from the system.
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

// IsDescriptor says whether a path is a name that the system gives to a file that is open.
func IsDescriptor(path string) bool {
	_, ok := descriptor(path)
	return ok
}

// stdoutInfo describes the file that standard output was redirected to, nil if it is none.
func stdoutInfo() fs.FileInfo {
	if info, err := os.Stdout.Stat(); err == nil && info.Mode().IsRegular() {
		return info
	}
	return nil
}

// isDirect says whether a file is written as it is: there is nothing in it to lose.
func isDirect(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeCharDevice|fs.ModeNamedPipe) != 0
}

// called is how messages name an output.
func called(flag, path string) string { return strings.TrimSpace(flag + " " + path) }

// folder is where a file is. The name is left as it is: what ".." means after a symbolic link only
// the system knows.
func folder(path string) string {
	dir, _ := filepath.Split(path)
	return cmp.Or(dir, ".")
}

// samePlace says whether two paths that may lead to nothing name the same file in the same folder,
// also where the file system takes upper and lower case for the same.
func samePlace(a, b string) bool {
	x, y := filepath.Base(a), filepath.Base(b)
	if !strings.EqualFold(x, y) {
		return false
	}
	dirA, errA := os.Stat(folder(a))
	dirB, errB := os.Stat(folder(b))
	return errA == nil && errB == nil && os.SameFile(dirA, dirB) && (x == y || foldsCase(folder(a)))
}

// foldsCase says whether a folder is found under its name in another case.
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

// Cause is what went wrong with a file, without its name, which messages have already.
func Cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// IsFolderName reports whether the name of an output is that of a folder by its form.
func IsFolderName(path string) bool { return path != "" && os.IsPathSeparator(path[len(path)-1]) }
