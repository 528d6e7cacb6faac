package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// Kind is the kind of a path.
type Kind int

// The kinds.
const (
	Nothing  Kind = iota // includes an empty directory, and an incomplete database or backup
	Database             // a directory with a catalog
	Damaged              // a directory with files of a database, but no catalog
	Table                // a single table
	Other
)

// Look returns the kind of path. Everything that opens or makes a database calls it first, so it
// also refuses an invalid kernel.
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
	what, unfinished := Nothing, slices.Contains(names, NewCatalog)
	backup := slices.Contains(names, Backup) && isMark(fsys, filepath.Join(path, Backup))
	for _, name := range names {
		_, sst := Number(name, ".sst")
		_, temp := Number(name, ".sst"+TempSuffix)
		_, wal := Number(name, ".wal")
		switch {
		case unfinished && (sst || temp || wal), backup && (temp || name == Backup):
		case sst || wal:
			return Damaged, nil // a catalog is made before them
		case !slices.Contains(sideFiles, name) && !strings.HasPrefix(name, Catalog):
			what = Other
		}
	}
	return what, nil
}

// sideFiles are the files that hold nothing of a database.
var sideFiles = []string{Lock, Shared, SyncLock, MergeLock}

// isMark reports whether a file begins like the mark of a backup. A killed process may have left an
// empty file, which counts as one.
func isMark(fsys vfs.FS, path string) bool {
	f, err := fsys.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(BackupMark))
	n, _ := f.ReadAt(head, 0)
	return n == 0 || string(head[:n]) == BackupMark
}

// lookFile distinguishes a table from other files.
func lookFile(fsys vfs.FS, path string) (Kind, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return Other, err
	}
	defer f.Close()
	head := make([]byte, 8)
	n, err := f.ReadAt(head, 0)
	if n == len(head) && table.IsTable(head) {
		return Table, nil
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return Other, err
}

// A Site is the locked folder of a database that is being made. The database exists when its
// catalog has its final name. Until then the folder may have tables and logs if it also has a file
// NewCatalog, which says that they do not count yet: see Look. The next Claim removes them.
type Site struct {
	*Folder
	Held io.Closer // the lock
	Made bool      // the folder was created

	fs   vfs.FS
	path string
}

// Claim enters the folder of a new database, and removes the files of an incomplete one. Anything
// else at path is ErrExists.
func Claim(fsys vfs.FS, path string, wait time.Duration) (*Site, error) {
	if err := vacant(fsys, path, path); err != nil {
		return nil, err
	}
	s, err := Enter(fsys, path, wait)
	if err != nil {
		return nil, err
	}
	if err = vacant(s, ".", path); err == nil { // another process may have made a database meanwhile
		err = s.Clear()
	}
	if err != nil {
		return nil, errors.Join(err, s.Leave())
	}
	return s, nil
}

// enters is how many times Enter tries to create a folder that other processes remove.
const enters = 16

// Enter creates a folder if necessary and locks it, trying for up to wait.
func Enter(fsys vfs.FS, path string, wait time.Duration) (s *Site, err error) {
	for range enters {
		s = &Site{fs: fsys, path: path}
		_, err = fsys.Stat(path)
		s.Made = errors.Is(err, fs.ErrNotExist)
		if err = MakeFolder(fsys, path); err == nil {
			s.Folder, err = OpenFolder(fsys, path)
		}
		if err == nil {
			if s.Held, err = s.LockWithin(path, wait); err == nil {
				return s, nil
			}
			err = errors.Join(err, s.Release())
		}
		if s.Made {
			fsys.Remove(path) // fails if another process has put something into it
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return nil, err
}

// Leave releases the lock and the folder.
func (s *Site) Leave() error { return errors.Join(s.Held.Close(), s.Release()) }

// vacant returns ErrExists unless a new database can be made at path. The error refers to it as
// name.
func vacant(fsys vfs.FS, path, name string) error {
	what, err := Look(fsys, path)
	if err == nil && what != Nothing {
		err = fmt.Errorf("%s: %w", name, ErrExists)
	}
	return err
}

// Clear removes tables and logs, durably.
func (s *Site) Clear() error {
	names, err := s.List(".")
	n := 0
	for _, name := range names {
		_, sst := Number(name, ".sst")
		_, temp := Number(name, ".sst"+TempSuffix)
		if _, wal := Number(name, ".wal"); sst || temp || wal {
			n++
			err = errors.Join(err, s.RemoveUnused(name))
		}
	}
	if n > 0 && err == nil {
		err = s.SyncDir(".")
	}
	return err
}

// Begin durably marks the folder as an incomplete database. Tables and logs are written after it.
func (s *Site) Begin() error {
	if _, err := s.Stat(NewCatalog); err == nil {
		return s.SyncDir(".")
	}
	f, err := s.Create(NewCatalog)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), s.SyncDir("."))
}

// Abandon removes a database, complete or not, that nobody has open, and the folder if Enter has
// created it. The caller must then call Leave.
func (s *Site) Abandon() error {
	if _, err := s.Stat(Catalog); err == nil && s.Rename(Catalog, NewCatalog) != nil {
		s.Remove(Catalog) // may succeed on a full disk
	}
	err := errors.Join(s.SyncDir("."), s.Clear(), RemoveIfThere(s, NewCatalog), RemoveIfThere(s, Backup))
	for _, name := range sideFiles[1:] {
		RemoveIfThere(s, name)
	}
	// Windows removes neither the lock, which is open, nor the folder; Look calls the rest Nothing.
	if RemoveIfThere(s, Lock) == nil && s.Made {
		s.fs.Remove(s.path)
	}
	return err
}

// MakeFolder creates the folder of a new database, with its missing parents, and makes their names
// durable.
func MakeFolder(fsys vfs.FS, path string) error {
	type name struct {
		dir  string // parent directory
		made bool   // created by this call
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
		// An existing parent may have been created by a call that was killed before it synced the
		// name. If its name cannot be synced, it is assumed to be durable: its own parent may be a
		// folder that this user cannot open.
		if err := fsys.SyncDir(n.dir); err != nil && n.made {
			return err
		}
	}
	return nil
}
