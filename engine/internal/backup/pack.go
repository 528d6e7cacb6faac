package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// Vacant returns ErrExists if path exists.
func Vacant(fsys vfs.FS, path string) error {
	_, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		err = fmt.Errorf("%s: %w", path, files.ErrExists)
	}
	return err
}

// Write writes all documents that are visible in v, and no data of others, into one table file at
// path, with the parameters of t. The file appears whole or not at all; if path exists at the end,
// the error is ErrExists. If one table cannot hold all documents, Write returns ErrTooLarge before
// it writes anything.
func Write(ctx context.Context, fsys vfs.FS, path string, v *view.View, t *tables.Folder, progress func(view.Progress)) error {
	temp := tempName(path)
	err := v.Safely(ctx, func() error {
		docs, err := visibleDocs(ctx, v)
		if err != nil {
			return err
		}
		if most := t.MaxDocs(); docs > most {
			return fmt.Errorf("pack %s: %d documents for one table; the limit is %d: %w", v.Path, docs, most, files.ErrTooLarge)
		}
		inputs, err := inputsOf(v)
		if err == nil {
			err = writeFile(ctx, fsys, temp, t, docs, inputs, EncodeNote(v.Allowed), progress)
		}
		return err
	})
	if err == nil {
		if err = fsys.RenameNew(temp, path); errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s: %w", path, files.ErrExists)
		}
	}
	if err != nil {
		return errors.Join(err, files.RemoveIfThere(fsys, temp))
	}
	return fsys.SyncDir(filepath.Dir(path))
}

// tempName returns the name of a new file beside path.
func tempName(path string) string {
	var random [8]byte
	rand.Read(random[:])
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%x.tmp", filepath.Base(path), random))
}

// visibleDocs returns how many documents are visible in v.
func visibleDocs(ctx context.Context, v *view.View) (n int64, err error) {
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		if p.Dead.Count() == 0 && p.AllLive(v.Life) {
			n += int64(p.Meta.Docs)
			continue
		}
		for doc := range p.Meta.Docs {
			if doc%4096 == 0 && ctx.Err() != nil {
				return 0, ctx.Err()
			}
			alive, err := v.Alive(p, doc)
			if err != nil {
				return 0, err
			}
			if alive {
				n++
			}
		}
	}
	return n + int64(len(v.MemRows())), nil
}

// inputsOf returns the inputs of the merge: the tables of the view, and a table in memory of the
// documents that are only in memtables, as in a database that was opened read-only.
func inputsOf(v *view.View) ([]table.MergeInput, error) {
	var inputs []table.MergeInput
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		inputs = append(inputs, table.MergeInput{
			Reader: p.Reader, SeqShift: p.Shift, Keep: func(doc uint32) (bool, error) { return v.Alive(p, doc) },
		})
	}
	mem, err := memTable(v)
	if mem != nil {
		inputs = append(inputs, table.MergeInput{Reader: mem})
	}
	return inputs, err
}

// writeFile merges inputs of docs documents into a table file at path.
func writeFile(ctx context.Context, fsys vfs.FS, path string, t *tables.Folder, docs int64, inputs []table.MergeInput, note []byte, progress func(view.Progress)) error {
	_, err := tables.WriteFile(fsys, path, func(out io.Writer) (table.Info, error) {
		o := tables.MergeOptions("pack", progress)
		o.Note, o.Erase = note, true // the file may be given to readers who must not see deleted texts
		info, _, err := table.Merge(ctx, out, t.MergeParams(docs), inputs, o)
		return info, err
	})
	return err
}

// memTable returns the visible documents of the view's memtables as a table in memory, or nil if
// there are none.
func memTable(v *view.View) (*table.Reader, error) {
	docs := v.MemRows()
	if len(docs) == 0 {
		return nil, nil
	}
	return tables.InMemory(v.Params, docs)
}
