package tables

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// WriteBatch writes a new table file and opens it: fill adds records to it, and returns the other
// documents. Nothing refers to the table yet. After an error, and if there are no documents, the
// file is removed; without documents the table is nil.
func (f *Folder) WriteBatch(ctx context.Context, o table.BatchOptions, fill func(*table.BatchWriter) (*table.Batch, error)) (*view.Table, error) {
	t, err := f.Create(func(out io.Writer, identity table.Identity) (table.Info, error) {
		o.Identity = identity
		o.Layout = func(n int64) table.Layout { return f.ParamsFor(int(n)).Layout }
		w, err := table.NewBatchWriter(ctx, out, f.Params, o)
		if err != nil {
			return table.Info{}, err
		}
		defer w.Close()
		b, err := fill(w)
		if err == nil && b.Len() == 0 {
			err = errNoDocuments
		}
		if err != nil {
			return table.Info{}, err
		}
		return w.Write(b)
	})
	if errors.Is(err, errNoDocuments) {
		return nil, nil
	}
	return t, err
}

var errNoDocuments = errors.New("no documents")

// Create creates a table file, calls write to write it, and opens it. Nothing refers to the table
// yet; after an error it is removed. On a full disk the error is a *vfs.NoSpaceError.
func (f *Folder) Create(write func(io.Writer, table.Identity) (table.Info, error)) (*view.Table, error) {
	identity := f.newIdentity()
	number := identity.Number
	info, err := WriteFile(f.Dir, files.NewTableName(number), func(out io.Writer) (table.Info, error) { return write(out, identity) })
	if err == nil {
		err = f.Dir.SyncDir(".")
	}
	var t *view.Table
	if err == nil {
		t, err = f.Open(Meta(number, info), files.NewTableName(number))
	}
	if err != nil {
		full := vfs.IsFull(err)
		err = errors.Join(err, files.RemoveIfThere(f.Dir, files.NewTableName(number)))
		if full {
			err = &vfs.NoSpaceError{Err: err}
		}
		return nil, err
	}
	return t, nil
}

func (f *Folder) newIdentity() table.Identity {
	return table.Identity{Database: f.UUID, Number: f.Number(), Created: time.Now().UnixMicro()}
}

// writeSize is how many bytes of a table are written at once. On kernels with large pages in the
// page cache, writing two aligned megabytes at once makes one large page, so that even a table that
// was just written is mapped with large pages.
const writeSize = 2 << 20

// writeBuffers pools buffers of writeSize bytes: most tables of a busy database are smaller.
var writeBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeSize) }}

// earlyBytes is how much of a table is written before the system is asked to start storing it:
// otherwise the sync at the end of a table of gigabytes would last a second, and block everything
// else.
const earlyBytes = 32 << 20

// earlyWriter writes a file, and makes the system store the data meanwhile.
type earlyWriter struct {
	vfs.File
	early    vfs.EarlyWriter
	off, due int64 // bytes written, and bytes whose storing has begun
}

// storedEarly returns a writer for an empty file. If the system supports it, storing the data
// begins before the file is synced.
func storedEarly(f vfs.File) io.Writer {
	if early, ok := f.(vfs.EarlyWriter); ok {
		return &earlyWriter{File: f, early: early}
	}
	return f
}

func (w *earlyWriter) Write(p []byte) (n int, err error) {
	n, err = w.File.Write(p)
	if w.off += int64(n); w.off-w.due >= earlyBytes {
		w.early.WriteEarly(w.due, w.off)
		w.due = w.off
	}
	return n, err
}

// WriteFile creates a table file at path, calls write to write it, and makes it durable except for
// its directory entry.
func WriteFile(fsys vfs.FS, path string, write func(io.Writer) (table.Info, error)) (table.Info, error) {
	f, err := fsys.Create(path)
	if err != nil {
		return table.Info{}, err
	}
	info, err := writeTable(storedEarly(f), write)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return info, err
}

// writeTable calls write with a writer that passes large pieces to out.
func writeTable(out io.Writer, write func(io.Writer) (table.Info, error)) (table.Info, error) {
	buf := writeBuffers.Get().(*bufio.Writer)
	buf.Reset(out)
	defer func() {
		buf.Reset(nil)
		writeBuffers.Put(buf)
	}()
	info, err := write(buf)
	if err == nil {
		err = buf.Flush()
	}
	return info, err
}

// Meta returns the catalog's entry for a table that was just written.
func Meta(number uint64, info table.Info) catalog.Table {
	return catalog.Table{
		Number: number, Size: info.Size, Docs: info.Docs, Fingerprints: info.Fingerprints, Digest: info.Checksum,
		MinTime: info.MinTime, MaxTime: info.MaxTime, MinSeq: info.MinSeq, MaxSeq: info.MaxSeq,
	}
}
