package files

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// An Identifier tells which files belong to databases. It lists each folder once, and still notices
// a database that is created there later, by its catalog. It may be used concurrently.
type Identifier struct {
	mu    sync.Mutex
	other map[string]bool // folders that had no files of a database
}

// Identify describes in words the simdb file or folder at path: a database; a file in the folder of
// a database, whether it exists or not; or a table, log or catalog anywhere, recognized by its
// content. It returns "" for any other path. A program calls it before it replaces a file.
func (x *Identifier) Identify(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case info.IsDir():
		if x.isDatabase(path) {
			return "a database", nil
		}
		return "", nil
	case info.Mode().IsRegular():
		if what, err := identifyFile(path); what != "" || err != nil {
			return what, err
		}
	}
	dir, _ := filepath.Split(path)
	dir, err = filepath.EvalSymlinks(cmp.Or(dir, ".")) // the meaning of ".." after a symbolic link depends on the link
	if err == nil && x.isDatabase(dir) {
		return "a file of the database " + dir, nil
	}
	return "", nil
}

// isDatabase reports whether path is the folder of a database, including a damaged one.
func (x *Identifier) isDatabase(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() || x.isOther(path) {
		return false
	}
	what, err := Look(vfs.Disk, path)
	if err != nil || what == Damaged {
		return err == nil
	}
	if what != Database {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.other == nil {
			x.other = map[string]bool{}
		}
		x.other[path] = true
		return false
	}
	// Another folder may have a file called CATALOG.
	if _, err := os.Stat(filepath.Join(path, Lock)); err == nil {
		return true
	}
	kind, err := identifyFile(filepath.Join(path, Catalog))
	return err == nil && kind != ""
}

// isOther reports whether a folder was listed before without files of a database, and still has no
// catalog.
func (x *Identifier) isOther(path string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.other[path] {
		return false
	}
	_, err := os.Lstat(filepath.Join(path, Catalog))
	return errors.Is(err, fs.ErrNotExist)
}

// identifyFile recognizes a file by its content. It recognizes a table by its first or its last
// bytes.
func identifyFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	head := make([]byte, 20)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	tail := make([]byte, len(table.Magic))
	f.ReadAt(tail, max(0, info.Size()-int64(len(tail))))
	switch head = head[:n]; {
	case table.IsTable(head), table.IsTable(tail):
		return "a table", nil
	case wal.IsLog(head):
		return "a log of a database", nil
	case catalog.IsCatalog(head):
		return "the catalog of a database", nil
	}
	return "", nil
}
