package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/errs"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// Pack writes all visible documents, and nothing of others, into one table file at path, which Open
// opens as a read-only database and Ingest adds to others. The file appears whole or not at all;
// one that is there already, at the start or at the end, is ErrExists. It is written beside path,
// under a name that starts with a dot and ends with .tmp, which a process that is killed leaves.
// More documents than one table can have are ErrTooLarge, before anything is written.
func (db *Store) Pack(ctx context.Context, path string, progress func(view.Progress)) error {
	if _, err := db.fs.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s: %w", path, errs.ErrExists)
		}
		return err
	}
	if !db.opts.ReadOnly {
		if err := db.Flush(ctx); err != nil {
			return err
		}
	}
	v, err := db.View()
	if err != nil {
		return err
	}
	defer v.Close()
	temp := packTemp(path)
	err = v.Safely(ctx, func() error {
		docs, err := visibleDocs(ctx, v)
		if err != nil {
			return err
		}
		if most := db.MaxDocs(); docs > most {
			return fmt.Errorf("pack %s: %d documents for one table, limit %d: %w", db.Path, docs, most, errs.ErrTooLarge)
		}
		inputs, err := packInputs(v)
		if err == nil {
			err = db.packFile(ctx, temp, docs, inputs, encodeNote(v.Allowed), progress)
		}
		return err
	})
	if err == nil {
		if err = db.fs.RenameNew(temp, path); errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s: %w", path, errs.ErrExists)
		}
	}
	if err != nil {
		return errors.Join(err, files.RemoveIfThere(db.fs, temp))
	}
	return db.fs.SyncDir(filepath.Dir(path))
}

// packTemp returns the name of a new file beside path.
func packTemp(path string) string {
	var random [8]byte
	rand.Read(random[:])
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%x.tmp", filepath.Base(path), random))
}

// visibleDocs returns how many documents are visible in v.
func visibleDocs(ctx context.Context, v *view.View) (n int64, err error) {
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		if p.Dead.Count() == 0 && p.Meta.MinTime >= v.Since {
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
	for _, m := range v.Mems {
		for _, d := range m.Docs {
			if v.MemAlive(d) {
				n++
			}
		}
	}
	return n, nil
}

// packInputs returns what is to be merged: the tables of the snapshot and, of what is in memtables
// only, as in a database that was opened read-only, a table in memory.
func packInputs(v *view.View) ([]compaction.Input, error) {
	var inputs []compaction.Input
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		inputs = append(inputs, compaction.Input{
			Reader: p.Reader, SeqShift: p.Shift, Keep: func(doc uint32) (bool, error) { return v.Alive(p, doc) },
		})
	}
	mem, err := memTable(v)
	if mem != nil {
		inputs = append(inputs, compaction.Input{Reader: mem})
	}
	return inputs, err
}

func (db *Store) packFile(ctx context.Context, path string, docs int64, inputs []compaction.Input, note []byte, progress func(view.Progress)) error {
	_, err := writeTableFile(db.fs, path, func(out io.Writer) (sstable.Info, error) {
		o := mergeOptions("pack", progress)
		o.Note, o.Erase = note, true // the file may go where deleted texts must not
		info, _, err := compaction.Merge(ctx, out, db.mergeParams(docs), inputs, o)
		return info, err
	})
	return err
}

// memTable returns the visible documents of the snapshot's memtables as a table in memory, nil if
// there are none.
func memTable(v *view.View) (*sstable.Reader, error) {
	var docs []*view.MemDoc
	for _, m := range v.Mems {
		for _, d := range m.Docs {
			if v.MemAlive(d) {
				docs = append(docs, d)
			}
		}
	}
	if len(docs) == 0 {
		return nil, nil
	}
	sortDocs(docs)
	var buf bytes.Buffer
	w, err := sstable.NewWriter(&buf, v.Params.ForTable(int64(len(docs))), memOptions(docs))
	if err != nil {
		return nil, err
	}
	if err := addDocs(w, docs); err != nil {
		return nil, err
	}
	if _, err := w.Close(); err != nil {
		return nil, err
	}
	// Readers may look a little past a section's end.
	return sstable.OpenBytes(buf.Bytes(), "memtable")
}

// Ingest adds the documents of table files, made by Pack or elsewhere, to the database: the files
// are copied into it as they are. Their documents count as written now, file after file, those of
// one file in the order in which they were written before. A document whose ID is stored replaces
// the stored one. All of the files must have the database's parameters, all but the layout; they
// are added one after the other, and an error leaves those before it added.
func (db *Store) Ingest(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if err := db.ingest(ctx, path); err != nil {
			return fmt.Errorf("ingesting %s: %w", path, err)
		}
	}
	return nil
}

func (db *Store) ingest(ctx context.Context, path string) error {
	if err := db.Writable(); err != nil {
		return err
	}
	number := db.allocFile()
	err := db.copyTable(path, files.NewTableName(number))
	if err == nil {
		err = db.Dir.SyncDir(".")
	}
	var t *view.Table
	if err == nil {
		t, err = db.openForeign(ctx, number)
	}
	if err == nil {
		if err = db.publishIngest(ctx, t); err == nil {
			db.metrics.bytesLoaded.Add(t.Meta.Size)
			db.WakeCompact()
			return nil
		}
		return errors.Join(err, db.Drop(t))
	}
	return errors.Join(err, files.RemoveIfThere(db.Dir, files.NewTableName(number)))
}

// copyTable copies a file from anywhere into the database's folder.
func (db *Store) copyTable(from, to string) error {
	src, err := db.fs.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	size, err := src.Size()
	if err != nil {
		return err
	}
	dst, err := db.Dir.Create(to)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(dst, io.NewSectionReader(src, 0, size), make([]byte, min(size, writeSize)))
	if err == nil {
		err = dst.Sync()
	}
	return errors.Join(err, dst.Close())
}

// openForeign opens a table that came from elsewhere, after verifying all of it.
func (db *Store) openForeign(ctx context.Context, number uint64) (*view.Table, error) {
	f, err := db.Dir.Open(files.NewTableName(number))
	if err != nil {
		return nil, err
	}
	r, err := sstable.OpenFile(f, files.TableName(number))
	if err != nil {
		return nil, err
	}
	if err = db.checkParams(r); err == nil {
		err = r.Verify(ctx, nil)
	}
	meta := TableMeta(number, r.Info())
	if e := r.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	return db.openTable(meta, files.NewTableName(number))
}

// publishIngest makes t part of the database; the documents that it replaces are dead.
func (db *Store) publishIngest(ctx context.Context, t *view.Table) error {
	p := db.newPublication(t, true, nil)
	var err error
	if p.allow, err = readAllowed(t); err != nil {
		return err
	}
	if err := p.search(ctx); err != nil {
		return err
	}
	return p.run(ctx)
}
