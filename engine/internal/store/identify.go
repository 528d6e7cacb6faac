package store

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	what, err := look(vfs.Disk, path)
	if err != nil || what == foundDamaged {
		return err == nil
	}
	if what != foundDatabase {
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

// found is what there is at a path.
type found int

const (
	foundNothing  found = iota // or an empty directory, or what an interrupted Create leaves
	foundDatabase              // a directory with a catalog
	foundDamaged               // a directory with files of a database, but no catalog
	foundTable                 // a single table
	foundOther
)

// look says what Open finds at path.
func look(fsys vfs.FS, path string) (found, error) {
	info, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return foundNothing, nil
	case err != nil:
		return foundOther, err
	case !info.IsDir:
		return lookFile(fsys, path)
	}
	names, err := fsys.List(path)
	if err != nil {
		return foundOther, err
	}
	if slices.Contains(names, files.Catalog) {
		return foundDatabase, nil
	}
	what := foundNothing
	for _, name := range names {
		_, sst := files.Number(name, ".sst")
		_, wal := files.Number(name, ".wal")
		switch {
		case sst || wal:
			return foundDamaged, nil // Create makes the catalog before them
		case name != files.Lock && !strings.HasPrefix(name, files.Catalog):
			what = foundOther
		}
	}
	return what, nil
}

// lookFile tells a table from other files.
func lookFile(fsys vfs.FS, path string) (found, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return foundOther, err
	}
	defer f.Close()
	head := make([]byte, 8)
	if n, _ := f.ReadAt(head, 0); n == len(head) && sstable.IsTable(head) {
		return foundTable, nil
	}
	return foundOther, nil
}
