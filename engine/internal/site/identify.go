package site

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// Identify says in words what of simdb is at path, "" if nothing is: a database, a file in the
// folder of one, whether it is there or not, or a table, a log or a catalog anywhere, which it
// knows by their content. A program asks it before it replaces a file.
func Identify(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case info.IsDir():
		if isDatabase(path) {
			return "a database", nil
		}
		return "", nil
	case info.Mode().IsRegular():
		if what, err := identifyFile(path); what != "" || err != nil {
			return what, err
		}
	}
	dir, _ := filepath.Split(path)
	dir, err = filepath.EvalSymlinks(cmp.Or(dir, ".")) // what ".." after a link means is not seen from the name
	if err == nil && isDatabase(dir) {
		return "a file of the database " + dir, nil
	}
	return "", nil
}

// isDatabase says whether there is the folder of a database at path, even of a damaged one.
func isDatabase(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	what, err := Look(vfs.Disk, path)
	if err != nil || what == Damaged {
		return err == nil
	}
	if what != Database {
		return false
	}
	// A folder of other things may have a file of that name.
	if _, err := os.Stat(filepath.Join(path, files.Lock)); err == nil {
		return true
	}
	kind, err := identifyFile(filepath.Join(path, files.Catalog))
	return err == nil && kind != ""
}

// identifyFile knows a file by its content: a table by its first or its last bytes.
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
	tail := make([]byte, len(sstable.Magic))
	f.ReadAt(tail, max(0, info.Size()-int64(len(tail))))
	switch head = head[:n]; {
	case sstable.IsTable(head), sstable.IsTable(tail):
		return "a table", nil
	case wal.IsLog(head):
		return "a log of a database", nil
	case catalog.IsCatalog(head):
		return "the catalog of a database", nil
	}
	return "", nil
}
