package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/vfs"
)

// mark returns the contents of the file BACKUP in a backup of the database.
func (b *backup) mark() string {
	return files.BackupMark + hex.EncodeToString(b.from.View.UUID[:]) + "\n"
}

// A target is the database that the backup consists of.
type target struct {
	tables.Folder
	config   view.Config
	site     *files.Site
	cat      *catalog.Catalog // nil if it does not exist yet
	nextFile uint64
}

// newTarget opens the folder at path, which it creates if necessary, and locks it against other
// writers.
func newTarget(from *Source, path string) (*target, error) {
	site, err := files.Enter(from.FS, path, from.BusyTimeout)
	if err != nil {
		return nil, err
	}
	t := &target{Folder: *from.Tables, site: site, config: view.Config{Path: path, Dir: site.Folder, UUID: from.View.UUID}}
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
// their final names.
func (t *target) edit(e catalog.Edit) error {
	e.NextFile = &t.nextFile
	if err := t.cat.Apply(e); err != nil {
		return fmt.Errorf("updating the catalog: %w", err)
	}
	t.Name(e.AddTables)
	return nil
}

// release closes all open files.
func (t *target) release() error {
	var all []error
	if t.cat != nil {
		all = append(all, t.cat.Close())
	}
	return errors.Join(append(all, t.site.Leave())...)
}

// open opens the folder of the backup, which it creates if necessary, and locks it against other
// writers. If there is something else at path, the error is ErrExists.
func (b *backup) open(path string) (err error) {
	fsys := b.from.FS
	if filepath.Clean(path) == filepath.Clean(b.from.View.Path) {
		return fmt.Errorf("%s is the database itself: %w", path, files.ErrExists)
	}
	switch what, err := files.Look(fsys, filepath.Dir(filepath.Clean(path))); {
	case err == nil && (what == files.Database || what == files.Damaged):
		return fmt.Errorf("%s would lie in the folder of a database: %w", path, files.ErrInvalid)
	}
	if err = b.look(path); err != nil {
		return err
	}
	if b.to, err = newTarget(&b.from, path); err != nil {
		return err
	}
	if err = b.look(path); err != nil { // another process may have made something else meanwhile
		b.to.site.Made = false
		return err
	}
	return b.prepare()
}

// look checks that path is a backup of the database, or one of the states that files.Look calls
// Nothing.
func (b *backup) look(path string) error {
	what, err := files.Look(b.from.FS, path)
	if err != nil {
		return err
	}
	if info, err := b.from.FS.Stat(path); err == nil && !info.IsDir {
		return fmt.Errorf("%s is a file, not a backup: %w", path, files.ErrExists)
	}
	mark, err := b.readMark(filepath.Join(path, files.Backup))
	switch {
	case err != nil || mark == b.mark():
		return err
	case strings.HasPrefix(mark, files.BackupMark):
		return fmt.Errorf("%s is a backup of another database: %w", path, files.ErrExists)
	case what == files.Database || what == files.Damaged:
		return fmt.Errorf("%s is a database, not a backup (or a backup that was opened for writing): %w", path, files.ErrExists)
	case what == files.Other:
		return fmt.Errorf("%s is neither empty nor a backup: %w", path, files.ErrExists)
	}
	return nil
}

// readMark returns the contents of a file BACKUP, or "" if there is none.
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

// prepare reads the catalog of the backup, if it has one, and otherwise marks the folder as a
// backup. The caller holds the folder's lock.
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
	switch mark, err := b.readMark(filepath.Join(b.to.Path, files.Backup)); {
	case err != nil:
		return err
	case mark == b.mark(): // left by a killed run, whose copies are reused
		return errors.Join(vfs.SyncFile(dir, files.Backup), dir.SyncDir("."))
	}
	if err := errors.Join(b.to.site.Clear(), files.RemoveIfThere(dir, files.Backup)); err != nil { // the file may be empty
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

// close releases the folder of the backup. After a failure it removes files that this run has
// written and that nothing refers to. If the run was cancelled, copies stay, so that the next run
// need not make them again.
func (b *backup) close(ctx context.Context, err error) error {
	if b.to == nil {
		return err
	}
	if err == nil || ctx.Err() != nil {
		return errors.Join(err, b.to.release())
	}
	if b.to.cat == nil {
		if _, e := b.to.Dir.Stat(files.Catalog); !errors.Is(e, fs.ErrNotExist) { // the catalog may exist without being durable
			return errors.Join(err, b.to.release())
		}
	}
	for _, number := range b.files {
		err = errors.Join(err, files.RemoveIfThere(b.to.Dir, files.NewTableName(number)))
	}
	if b.to.site.Made && b.to.cat == nil {
		err = errors.Join(err, b.to.site.Abandon())
	}
	return errors.Join(err, b.to.release())
}
