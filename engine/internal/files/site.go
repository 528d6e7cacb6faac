package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// Kind is what there is at a path.
type Kind int

// The kinds.
const (
	Nothing  Kind = iota // or an empty directory, or what an interrupted creation leaves
	Database             // a directory with a catalog
	Damaged              // a directory with files of a database, but no catalog
	Table                // a single table
	Other
)

// Look says what Open finds at path. Whatever opens or makes a database begins with it, so it
// refuses a wrong kernel, too.
func Look(fsys vfs.FS, path string) (Kind, error) {
	if err := kernel.Err(); err != nil {
		return Other, err
	}
	info, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Nothing, nil
	case err != nil:
		return Other, err
	case !info.IsDir:
		return lookFile(fsys, path)
	}
	names, err := fsys.List(path)
	if err != nil {
		return Other, err
	}
	if slices.Contains(names, Catalog) {
		return Database, nil
	}
	what := Nothing
	for _, name := range names {
		_, sst := Number(name, ".sst")
		_, wal := Number(name, ".wal")
		switch {
		case sst || wal:
			return Damaged, nil // the catalog is made before them
		case name != Lock && !strings.HasPrefix(name, Catalog):
			what = Other
		}
	}
	return what, nil
}

// lookFile tells a table from other files.
func lookFile(fsys vfs.FS, path string) (Kind, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return Other, err
	}
	defer f.Close()
	head := make([]byte, 8)
	if n, _ := f.ReadAt(head, 0); n == len(head) && sstable.IsTable(head) {
		return Table, nil
	}
	return Other, nil
}

// Vacant returns ErrExists unless a new database can be made at path: there is nothing, an empty
// directory, or what an interrupted creation leaves.
func Vacant(fsys vfs.FS, path string) error {
	what, err := Look(fsys, path)
	if err == nil && what != Nothing {
		err = fmt.Errorf("%s: %w", path, ErrExists)
	}
	return err
}

// MakeFolder makes the folder of a new database, with its missing parents, and makes their names
// durable.
func MakeFolder(fsys vfs.FS, path string) error {
	type name struct {
		dir  string // that holds it
		made bool   // by this call
	}
	path = filepath.Clean(path)
	names := []name{{filepath.Dir(path), true}}
	for p := filepath.Dir(path); filepath.Dir(p) != p; p = filepath.Dir(p) {
		_, err := fsys.Stat(p)
		names = append(names, name{filepath.Dir(p), errors.Is(err, fs.ErrNotExist)})
	}
	if err := fsys.MkdirAll(path); err != nil {
		return err
	}
	for _, n := range names {
		// A parent that was there may have been made by a call that was killed before it came here.
		// If its name can't be synced, it is taken to be durable: it may lie in a folder that this
		// user can't open.
		if err := fsys.SyncDir(n.dir); err != nil && n.made {
			return err
		}
	}
	return nil
}
