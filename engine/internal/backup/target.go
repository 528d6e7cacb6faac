package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
)

// markPrefix is what the file BACKUP holds before the UUID of the database, in hexadecimal, and the
// end of the line.
const markPrefix = "backup of the simdb database "

// mark returns what the file BACKUP in a backup of the database holds.
func (b *backup) mark() string { return markPrefix + hex.EncodeToString(b.from.View.UUID[:]) + "\n" }

// A target is the database that a backup is.
type target struct {
	tables.Folder
	config   view.Config
	lock     io.Closer
	cat      *catalog.Catalog // nil if there is none yet
	nextFile uint64
}

// newTarget opens the folder at path.
func newTarget(from *Source, path string) (*target, error) {
	dir, err := files.OpenFolder(from.FS, path)
	if err != nil {
		return nil, err
	}
	t := &target{Folder: *from.Tables, config: view.Config{Path: path, Dir: dir, UUID: from.View.UUID}}
	t.config.SetParams(from.View.Params)
	t.Config, t.ReadOnly, t.Number = &t.config, false, t.allocFile
	return t, nil
}

// allocFile returns a number for a new file.
func (t *target) allocFile() uint64 {
	t.nextFile++
	return t.nextFile - 1
}

// edit commits an edit of the catalog, with the next file number, and gives the files of new tables
// their names.
func (t *target) edit(e catalog.Edit) error {
	e.NextFile = &t.nextFile
	if err := t.cat.Apply(e); err != nil {
		return fmt.Errorf("updating the catalog: %w", err)
	}
	t.Name(e.AddTables)
	return nil
}

// release closes what is open.
func (t *target) release() error {
	var all []error
	if t.cat != nil {
		all = append(all, t.cat.Close())
	}
	if t.lock != nil {
		all = append(all, t.lock.Close())
	}
	return errors.Join(append(all, t.Dir.Release())...)
}

// open opens the folder of the backup, which it makes if there is none, and keeps others from
// writing there. Something else at path is ErrExists.
func (b *backup) open(path string) (err error) {
	fsys := b.from.FS
	if filepath.Clean(path) == filepath.Clean(b.from.View.Path) {
		return fmt.Errorf("%s is the database itself: %w", path, files.ErrExists)
	}
	switch what, err := files.Look(fsys, filepath.Dir(filepath.Clean(path))); {
	case err == nil && (what == files.Database || what == files.Damaged):
		return fmt.Errorf("%s would lie in the folder of a database: %w", path, files.ErrInvalid)
	}
	there, err := b.look(path)
	if err != nil {
		return err
	}
	b.made = !there
	if err = files.MakeFolder(fsys, path); err == nil {
		err = b.lock(path)
	}
	if err != nil {
		if b.made {
			fsys.Remove(path) // unless another process has something in it
		}
		return err
	}
	if _, err = b.look(path); err != nil { // another process has come first
		b.made = false
		return err
	}
	return b.prepare()
}

// lock opens the target and keeps others from writing there. There is none after an error.
func (b *backup) lock(path string) error {
	to, err := newTarget(&b.from, path)
	if err != nil {
		return err
	}
	if to.lock, err = to.Dir.LockWithin(path, b.from.BusyTimeout); err != nil {
		return errors.Join(err, to.release())
	}
	b.to = to
	return nil
}

// look checks that there is a backup of the database at path, or nothing, or an empty folder, and
// reports whether there is a folder.
func (b *backup) look(path string) (folder bool, err error) {
	fsys := b.from.FS
	info, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir:
		return false, fmt.Errorf("%s is a file, not a backup: %w", path, files.ErrExists)
	}
	names, err := fsys.List(path)
	if err != nil {
		return false, err
	}
	mark, err := b.readMark(filepath.Join(path, files.Backup))
	switch {
	case err != nil:
		return true, err
	case mark == b.mark():
		return true, nil
	case slices.Contains(names, files.Catalog) && mark == "":
		return true, fmt.Errorf("%s is a database, not a backup (or it was opened for writing since it was one): %w", path, files.ErrExists)
	case strings.HasPrefix(mark, markPrefix):
		return true, fmt.Errorf("%s is a backup of another database: %w", path, files.ErrExists)
	}
	for _, name := range names {
		if name != files.Lock && name != files.Backup { // of a run that was killed before it had written its mark
			return true, fmt.Errorf("%s is neither empty nor a backup: it holds %s: %w", path, name, files.ErrExists)
		}
	}
	return true, nil
}

// readMark returns what a file BACKUP holds, "" if there is none.
func (b *backup) readMark(path string) (string, error) {
	f, err := b.from.FS.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	buf := make([]byte, len(b.mark())+1)
	n, err := f.ReadAt(buf, 0)
	if err == io.EOF {
		err = nil
	}
	return string(buf[:n]), errors.Join(err, f.Close())
}

// prepare reads the catalog of the backup, if it has one, and otherwise marks the folder as that of
// a backup. The caller holds its lock.
func (b *backup) prepare() error {
	dir := b.to.Dir
	if _, err := dir.Stat(files.Catalog); err == nil {
		cat, s, err := catalog.Open(dir, files.Catalog)
		if err != nil {
			return fmt.Errorf("%s: %w", b.to.Path, err)
		}
		b.to.cat, b.have = cat, *s
		if s.UUID != b.from.View.UUID {
			return fmt.Errorf("%s is a backup of another database: %w", b.to.Path, files.ErrExists)
		}
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := files.RemoveIfThere(dir, files.Backup); err != nil { // it may be empty
		return err
	}
	f, err := dir.Create(files.Backup)
	if err != nil {
		return err
	}
	if _, err = f.Write([]byte(b.mark())); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.SyncDir(".")
	}
	return err
}

// close releases the folder of the backup. After a failure it removes what this run has written and
// nothing refers to; copies stay if the run was cancelled, so that the next one need not make them
// again.
func (b *backup) close(ctx context.Context, err error) error {
	if b.to == nil {
		return err
	}
	if err == nil || ctx.Err() != nil {
		return errors.Join(err, b.to.release())
	}
	if b.to.cat == nil {
		if _, e := b.to.Dir.Stat(files.Catalog); !errors.Is(e, fs.ErrNotExist) { // made, but perhaps not durable
			return errors.Join(err, b.to.release())
		}
	}
	for _, number := range b.files {
		err = errors.Join(err, files.RemoveIfThere(b.to.Dir, files.NewTableName(number)))
	}
	var open []string
	if b.made && b.to.cat == nil {
		open = b.unmake()
	}
	err = errors.Join(err, b.to.release())
	for _, path := range open {
		b.from.FS.Remove(path)
	}
	return err
}

// unmake removes the folder of a backup that was not made, unless there is more in it than this run
// has put there. It returns the paths that could not be removed: Windows keeps what is open, here
// the lock and the folder.
func (b *backup) unmake() (open []string) {
	files.RemoveIfThere(b.to.Dir, files.Catalog+catalog.TempSuffix)
	names, err := b.to.Dir.List(".")
	if err != nil || slices.ContainsFunc(names, func(name string) bool { return name != files.Backup && name != files.Lock }) {
		return nil
	}
	for _, name := range names {
		if b.to.Dir.Remove(name) != nil {
			open = append(open, filepath.Join(b.to.Path, name))
		}
	}
	if b.from.FS.Remove(b.to.Path) != nil {
		open = append(open, b.to.Path)
	}
	return open
}
