// Package files handles the folder of a database: the names of its files, the kinds of paths that
// are or may become a database (site.go), and the errors that package engine exports as Err...
// (errs.go), which are wrapped with context where they occur.
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
	Shared  = "SHARED" // memory of the processes that share the database
	Backup  = "BACKUP" // says that the database is a backup, and of which database

	SyncLock  = "SYNC"  // lock of the process that syncs the log of a shared database
	MergeLock = "MERGE" // lock of the process that merges the tables of a shared database

	OrphanSuffix = ".orphan" // of a table that Open has renamed because the catalog does not list it
	TempSuffix   = ".tmp"    // of a table that the catalog does not list yet

	// NewCatalog is the catalog of an incomplete database, or an empty file that marks an
	// incomplete one.
	NewCatalog = Catalog + catalog.TempSuffix

	BackupMark = "backup of the simdb database " // prefix of the file Backup
)

// TableName returns the name of a table's file.
func TableName(number uint64) string { return fmt.Sprintf("%06d.sst", number) }

// NewTableName returns the name of a table's file until the catalog lists it.
func NewTableName(number uint64) string { return TableName(number) + TempSuffix }

// LogName returns the name of a log's file.
func LogName(number uint64) string { return fmt.Sprintf("%06d.wal", number) }

// Number returns the number in the name of a table or log with the extension ext, or false if the
// name has another form.
func Number(name, ext string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, ext)
	if !ok || len(digits) < 6 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

// A Folder is the open folder of a database. Operations apply to that folder even if it is renamed,
// or another one is created with its name. It has a reference count: the DB holds a reference, and
// so does every open table, since a table's file may be removed after the DB was closed.
type Folder struct {
	vfs.Root
	refs atomic.Int32

	mu        sync.Mutex
	undeleted []string // files that could not be removed because another process has them open
}

// RemoveUnused removes a file that nothing refers to. On Windows the system may refuse this while a
// reader has the file mapped. That is not an error: a later call, the last Release, or the next
// open for writing removes the file.
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

// removeKept tries again to remove the files that could not be removed before. The caller holds mu.
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

// busyPoll is the interval between attempts to lock.
const busyPoll = 10 * time.Millisecond

// LockWithin locks the folder against other writers, and keeps trying for up to wait. Then it
// returns ErrLocked, with path and, if known, the process that has the lock.
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
		default:
			return nil, LockedBy(path, locked)
		}
	}
}

// LockedBy returns the ErrLocked for a database that another process has locked.
func LockedBy(path string, locked *vfs.LockedError) error {
	if locked.PID > 0 {
		return fmt.Errorf("%s: %w by process %d", path, ErrLocked, locked.PID)
	}
	return fmt.Errorf("%s: %w", path, ErrLocked)
}

// Retain adds a reference and returns f.
func (f *Folder) Retain() *Folder {
	f.refs.Add(1)
	return f
}

// Release drops a reference, and closes the folder with the last one.
func (f *Folder) Release() error {
	if f.refs.Add(-1) > 0 {
		return nil
	}
	f.mu.Lock()
	f.removeKept()
	f.mu.Unlock()
	return f.Close()
}

// RemoveTable is RemoveUnused for a table's file, which may still have its temporary name.
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
