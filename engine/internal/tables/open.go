package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// Open opens a table's file and checks that it is the one that the catalog lists.
func (f *Folder) Open(meta catalog.Table, file string) (*view.Table, error) {
	name := files.TableName(meta.Number)
	opened, err := f.Dir.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, base.Corruptf(name, "file", -1, "missing: %w", err)
	}
	if err != nil {
		return nil, err
	}
	r, err := table.OpenFile(opened, name)
	if err != nil {
		return nil, err
	}
	r.SetCache(f.Cache)
	info := r.Info()
	t := &view.Table{Meta: meta, Name: name, Reader: r, Shift: meta.MinSeq - info.MinSeq}
	err = f.checkParams(r)
	switch {
	case err != nil:
		err = fmt.Errorf("%s was %w", name, err)
	case info.Checksum != meta.Digest || info.Size != meta.Size || info.Docs != meta.Docs:
		err = base.Corruptf(name, "footer", -1, "not the table that the catalog lists under this name")
	case t.ShiftSeq(info.MaxSeq) != meta.MaxSeq || meta.MinSeq > meta.MaxSeq:
		err = base.Corruptf(files.Catalog, fmt.Sprintf("tables/%d", meta.Number), -1,
			"sequence numbers %d to %d instead of %d to %d in %s", meta.MinSeq, meta.MaxSeq, info.MinSeq, info.MaxSeq, name)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	t.Dir = f.Dir.Retain()
	return t, nil
}

// OpenListed opens a table that the catalog lists. The process that published it may have been
// killed before it could rename the file.
func (f *Folder) OpenListed(meta catalog.Table) (*view.Table, error) {
	name, temp := files.TableName(meta.Number), files.NewTableName(meta.Number)
	t, err := f.Open(meta, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	if _, e := f.Dir.Stat(temp); e != nil {
		return nil, err
	}
	if f.ReadOnly {
		return f.Open(meta, temp)
	}
	switch err := f.Dir.Rename(temp, name); {
	case vfs.InUse(err):
		return f.Open(meta, temp)
	case err != nil:
		return nil, err
	}
	return f.Open(meta, name)
}

// Name gives the files of tables that the catalog lists their final names.
func (f *Folder) Name(tables []catalog.Table) {
	for _, t := range tables {
		if err := f.Dir.Rename(files.NewTableName(t.Number), files.TableName(t.Number)); err != nil {
			f.Log.Warn("giving a table its name", "path", f.Path, "err", err)
		}
	}
}

// IsTable reports whether the file is a complete table.
func (f *Folder) IsTable(name string) bool {
	file, err := f.Dir.Open(name)
	if err != nil {
		return false
	}
	r, err := table.OpenFile(file, name)
	if err != nil {
		return false
	}
	return r.Close() == nil
}

// Adopt copies a table file from any path of fsys into the folder, verifies it completely and opens
// it. Nothing refers to the table yet; after an error it is removed.
func (f *Folder) Adopt(ctx context.Context, fsys vfs.FS, path string) (*view.Table, error) {
	number := f.Number()
	err := f.copyTable(fsys, path, files.NewTableName(number))
	if err == nil {
		err = f.Dir.SyncDir(".")
	}
	var t *view.Table
	if err == nil {
		t, err = f.openForeign(ctx, number)
	}
	if err != nil {
		return nil, errors.Join(err, files.RemoveIfThere(f.Dir, files.NewTableName(number)))
	}
	return t, nil
}

// copyTable copies a file from any path of fsys into the database's folder.
func (f *Folder) copyTable(fsys vfs.FS, from, to string) error {
	src, err := fsys.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	size, err := src.Size()
	if err != nil {
		return err
	}
	dst, err := f.Dir.Create(to)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(dst, io.NewSectionReader(src, 0, size), make([]byte, min(size, writeSize)))
	if err == nil {
		err = dst.Sync()
	}
	return errors.Join(err, dst.Close())
}

// openForeign verifies a table of another origin completely, and opens it.
func (f *Folder) openForeign(ctx context.Context, number uint64) (*view.Table, error) {
	file, err := f.Dir.Open(files.NewTableName(number))
	if err != nil {
		return nil, err
	}
	r, err := table.OpenFile(file, files.TableName(number))
	if err != nil {
		return nil, err
	}
	if err = f.checkParams(r); err == nil {
		err = r.Verify(ctx, nil)
	}
	meta := Meta(number, r.Info())
	if e := r.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	return f.Open(meta, files.NewTableName(number))
}
