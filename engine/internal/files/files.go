// Package files has the folder of a database: the names of the files in it, what there is at a path
// that is to be, or may be, a database (site.go), and the errors that package engine shows to
// callers under the names Err... (errs.go), each wrapped with what it is about where it arises.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/internal/vfs"
)

// The names of files in a database's folder.
const (
	Catalog = "CATALOG"
	Lock    = "LOCK"
	Backup  = "BACKUP" // says that the database is a backup, and of which one

	OrphanSuffix = ".orphan" // of a table that was set aside
	TempSuffix   = ".tmp"    // of a table that the catalog does not list yet

	// NewCatalog is the catalog of a database that is not complete, or a mark that there is one.
	NewCatalog = Catalog + catalog.TempSuffix

	BackupMark = "backup of the simdb database " // begins the file Backup
)

// TableName returns the name of a table's file.
func TableName(number uint64) string { return fmt.Sprintf("%06d.sst", number) }

// NewTableName returns the name of a table's file until the catalog lists it.
func NewTableName(number uint64) string { return TableName(number) + TempSuffix }

// LogName returns the name of a log's file.
func LogName(number uint64) string { return fmt.Sprintf("%06d.wal", number) }

// Number returns the number in the name of a table or log, whose ending is ext; false if the
// name is not such a name.
func Number(name, ext string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, ext)
	if !ok || len(digits) < 6 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

// A Folder is the open folder of a database. Operations go to that folder even if it is renamed, or
// another takes its name. It is counted: the DB holds it, and so does every open table, whose file
// may be removed after the DB was closed.
type Folder struct {
	vfs.Root
	refs atomic.Int32

	mu        sync.Mutex
	undeleted []string // files that could not be removed, since another process has them
}

// RemoveUnused removes a file that nothing refers to. Where the system keeps it while a reader has
// it mapped, as Windows may, that is no error: it is removed by a later call, by the last Release,
// or by the next open for writing.
func (f *Folder) RemoveUnused(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removeKept()
	err := f.Remove(name)
	if err == nil || !vfs.InUse(err) {
		return err
	}
	f.undeleted = append(f.undeleted, name)
	return nil
}

// removeKept removes the files that could not be removed before, as far as that is possible now. mu
// is held.
func (f *Folder) removeKept() {
	f.undeleted = slices.DeleteFunc(f.undeleted, func(name string) bool { return !vfs.InUse(f.Remove(name)) })
}

// OpenFolder opens the folder at path with one reference.
func OpenFolder(fsys vfs.FS, path string) (*Folder, error) {
	root, err := fsys.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	f := &Folder{Root: root}
	f.refs.Store(1)
	return f, nil
}

// busyPoll is how often a lock is tried.
const busyPoll = 10 * time.Millisecond

// LockWithin takes the lock that keeps a writer alone, and tries for as long as wait. After that it
// returns ErrLocked, with path and, where it is known, the process that has the lock.
func (f *Folder) LockWithin(path string, wait time.Duration) (io.Closer, error) {
	until := time.Now().Add(wait)
	for {
		var locked *vfs.LockedError
		lock, err := f.Lock(Lock)
		switch {
		case !errors.As(err, &locked):
			return lock, err
		case time.Now().Before(until):
			time.Sleep(busyPoll)
		case locked.PID > 0:
			return nil, fmt.Errorf("%s: %w by process %d", path, ErrLocked, locked.PID)
		default:
			return nil, fmt.Errorf("%s: %w", path, ErrLocked)
		}
	}
}

// Retain adds a reference and returns f.
func (f *Folder) Retain() *Folder {
	f.refs.Add(1)
	return f
}

// Release drops a reference, and with the last one closes the folder.
func (f *Folder) Release() error {
	if f.refs.Add(-1) > 0 {
		return nil
	}
	f.mu.Lock()
	f.removeKept()
	f.mu.Unlock()
	return f.Close()
}

// RemoveTable is RemoveUnused of a table's file, which may not have got its final name yet.
func (f *Folder) RemoveTable(number uint64) error {
	err := f.RemoveUnused(TableName(number))
	if errors.Is(err, fs.ErrNotExist) {
		err = f.RemoveUnused(NewTableName(number))
	}
	return err
}

// RemoveIfThere removes the file at path, if there is one.
func RemoveIfThere(fsys vfs.FS, path string) error {
	if _, err := fsys.Stat(path); err != nil {
		return nil
	}
	return fsys.Remove(path)
}
