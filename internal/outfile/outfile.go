// Package outfile writes output files atomically: it writes a file under a temporary name in the
// same folder and renames it when it is complete. Files whose names end in .gz or .zst are
// compressed. A Guard opens all files of a run.
package outfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/vfs"
)

// compressor is the common interface of gzip and zstd writers.
type compressor interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// Writer is an output file that is being written. Commit gives it its name.
type Writer struct {
	guard  *Guard
	flag   string
	path   string
	file   *os.File        // nil for standard output; a temporary file for an upload
	upload place.Upload    // of a remote file, or nil
	ctx    context.Context // of the upload
	hidden bool            // the file has no name yet, not even a temporary one
	direct bool            // written without a temporary name: standard output, a pipe or a device
	buf    *bufio.Writer
	zip    compressor // in front of buf, or nil
	parted bool       // the next byte starts another gzip member or zstd frame
	done   bool       // complete except for giving the file its name
	err    error      // the first error
}

// stdout returns a Writer that writes to w, which is standard output.
func stdout(w io.Writer) *Writer {
	return &Writer{path: "standard output", direct: true, buf: bufio.NewWriterSize(w, 64<<10)}
}

// buffers recycles the buffers of complete files: a run may write thousands of files in sequence.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 256<<10) }}

// createTemp creates the file in its folder. If the system supports it, the file has no name, so a
// killed process leaves nothing behind; otherwise it has a temporary name.
func (w *Writer) createTemp() (err error) {
	if w.file, err = openUnnamed(folder(w.path)); err == nil {
		w.hidden = true
		return nil
	}
	w.file, err = os.CreateTemp(folder(w.path), ".simdb-*.tmp")
	return err
}

// createUpload begins an upload, whose content is written to a temporary file first.
func (w *Writer) createUpload(ctx context.Context) (err error) {
	if w.upload, err = place.Create(ctx, w.path); err != nil {
		return err
	}
	if w.file, err = vfs.Temp("", "simdb-output-*"); err != nil {
		w.upload.Drop()
	}
	w.ctx = ctx
	return err
}

// begin sets up the buffers of an open file that is written through to.
func (w *Writer) begin(to io.Writer) error {
	w.buf = buffers.Get().(*bufio.Writer)
	w.buf.Reset(to)
	switch compression(w.path) {
	case "gzip":
		w.zip = gzip.NewWriter(w.buf)
	case "zstd":
		z, err := zstd.NewWriter(w.buf)
		if err != nil {
			w.Abort()
			return err
		}
		w.zip = z
	}
	return nil
}

// renaming writes to a file, and puts the file's final name into errors.
type renaming struct {
	io.Writer
	path string
}

// Write writes to the file.
func (r renaming) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		e.Path = r.path
	}
	return n, err
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil || len(p) == 0 {
		return 0, w.err
	}
	var n int
	if w.parted {
		w.zip.Reset(w.buf)
		w.parted = false
	}
	if w.zip != nil {
		n, w.err = w.zip.Write(p)
	} else {
		n, w.err = w.buf.Write(p)
	}
	return n, w.err
}

// EndPart ends the gzip member or zstd frame, if the file is compressed, so that data written later
// can be decompressed separately.
func (w *Writer) EndPart() error {
	if w.zip != nil && w.err == nil && !w.parted {
		w.err = w.zip.Close()
		w.parted = true
	}
	return w.err
}

// Flush passes the data written so far to the operating system. It has no effect on compressed
// files.
func (w *Writer) Flush() error {
	if w.err == nil && w.zip == nil {
		w.err = w.buf.Flush()
	}
	return w.err
}

// Commit completes the file, makes it durable, and gives it its name.
func (w *Writer) Commit() error { return Commit(w) }

// Commit completes several files and then gives all files their names. If one cannot be completed,
// none gets its name. A nil Writer counts as complete.
func Commit(ws ...*Writer) error {
	var err error
	for _, w := range ws {
		if w != nil && err == nil {
			err = w.finish()
		}
	}
	var folders []string // distinct spellings of the folders
	// An upload is more likely to fail than a rename, and comes first.
	uploads, others := slices.DeleteFunc(slices.Clone(ws), (*Writer).local), slices.DeleteFunc(slices.Clone(ws), (*Writer).remote)
	for left := uploads; len(left) > 0 && err == nil; { // those that appear at once
		first := left[0].upload
		left = slices.DeleteFunc(slices.Clone(left[1:]), func(w *Writer) bool { return place.Include(first, w.upload) })
	}
	for _, w := range append(uploads, others...) {
		if err == nil {
			if err = w.publish(); err == nil && w.named() && w.upload == nil && !slices.Contains(folders, folder(w.path)) {
				folders = append(folders, folder(w.path))
			}
		}
	}
	for _, dir := range folders {
		err = errors.Join(err, vfs.Disk.SyncDir(dir))
	}
	if err != nil {
		for _, w := range ws {
			if w != nil {
				w.Abort()
			}
		}
	}
	return err
}

// Finish completes the file and makes it durable, but leaves it without its name: Commit must
// follow. It is for callers that write many files in sequence and want all or none to appear, since
// a finished file uses no memory.
func (w *Writer) Finish() error {
	if w.err == nil {
		w.err = w.finish()
	}
	if w.err == nil {
		w.err = w.reveal()
	}
	return w.err
}

// finish writes the remaining data and makes it durable. It closes the file, unless it has no name
// yet: such a file gets a name only after all files of a Commit are durable. finish checks again
// that giving the file its name would not destroy another file.
func (w *Writer) finish() error {
	if w.done {
		return nil
	}
	err := w.err
	if w.zip != nil && err == nil && !w.parted {
		err = w.zip.Close()
	}
	if err == nil {
		err = w.buf.Flush()
	}
	switch {
	case w.file == nil:
		return err
	case w.direct:
		return errors.Join(err, w.file.Close())
	case err == nil:
		_, _, err = w.guard.look(w.flag, w.path)
	}
	if err == nil {
		err = w.settle()
	}
	if err == nil {
		w.buf.Reset(nil)
		buffers.Put(w.buf)
	}
	w.done, w.buf, w.zip = err == nil, nil, nil
	return err
}

// settle sends the content of a remote file. A local one gets the permissions of the file that it
// replaces, or default ones; settle makes it durable,
// gives it a temporary name if necessary, and closes it.
func (w *Writer) settle() error {
	mode := os.FileMode(0o666) &^ umask()
	if st, err := os.Stat(w.path); err == nil {
		mode = st.Mode().Perm()
	}
	if w.upload != nil {
		size, err := w.file.Seek(0, io.SeekEnd)
		if err == nil {
			err = w.upload.Send(w.ctx, w.file, size, func() { vfs.RemoveTemp(w.file) })
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", called(w.flag, w.path), err)
		}
		return err
	}
	if err := w.file.Chmod(mode); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	if w.hidden { // publish or Finish gives it a name
		return nil
	}
	return w.file.Close()
}

// reveal gives a settled file without a name its temporary name, and closes it.
func (w *Writer) reveal() error {
	if !w.hidden {
		return nil
	}
	w.hidden = false
	return errors.Join(link(w.file), w.file.Close())
}

func (w *Writer) remote() bool { return w == nil || w.upload != nil }
func (w *Writer) local() bool  { return w == nil || w.upload == nil }

// named reports whether Commit gives the file its name.
func (w *Writer) named() bool { return w.file != nil && !w.direct }

// publish gives the finished file its name, which is durable after its folder is synced.
func (w *Writer) publish() error {
	if !w.named() {
		return nil
	}
	if w.upload != nil {
		if err := w.upload.Publish(w.ctx); err != nil {
			return fmt.Errorf("%s: %w", called(w.flag, w.path), err)
		}
		return nil
	}
	if err := w.reveal(); err != nil {
		return fmt.Errorf("%s: %w", called(w.flag, w.path), Cause(err))
	}
	if err := os.Rename(w.file.Name(), w.path); err != nil {
		return fmt.Errorf("%s: %w", called(w.flag, w.path), Cause(err))
	}
	return nil
}

// Abort drops the file; after Commit it has no effect. It may be called while another goroutine
// writes, to clean up before the process ends.
func (w *Writer) Abort() {
	if !w.named() {
		return
	}
	if w.upload != nil {
		w.upload.Drop()
	}
	w.file.Close()
	os.Remove(w.file.Name())
}

// Continue copies the present content of the file, if it exists, into the output, so that data
// written later follows it.
func (w *Writer) Continue() error {
	if !w.named() {
		return nil
	}
	f, err := place.Open(w.ctx, w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	switch compression(w.path) {
	case "gzip":
		if r, err = gzip.NewReader(f); errors.Is(err, io.EOF) { // the file is empty
			return nil
		}
	case "zstd":
		var d *zstd.Decoder
		if d, err = zstd.NewReader(f); err == nil {
			defer d.Close()
			r = d
		}
	}
	if err == nil {
		_, err = io.Copy(w, r)
	}
	if err != nil {
		return fmt.Errorf("%s: could not continue the file: %w", called(w.flag, w.path), Cause(err))
	}
	return nil
}
