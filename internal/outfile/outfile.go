// Package outfile writes output files atomically: a file is written under a temporary name beside
// its place and renamed when it is complete. Files whose names end in .gz or .zst are compressed. A
// Guard opens all files of a run.
package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/internal/vfs"
)

// compressor is what gzip and zstd have in common.
type compressor interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// Writer is an output file that is being written. It gets its name when it is committed.
type Writer struct {
	guard  *Guard
	flag   string
	path   string
	file   *os.File // nil for standard output
	hidden bool     // the file has no name, not even a temporary one, until it is complete
	direct bool     // written without a temporary name: standard output, a pipe or a device
	buf    *bufio.Writer
	zip    compressor // between the caller and buf, or nil
	parted bool       // the next byte begins another gzip member or zstd frame
	done   bool       // nothing is left to do but to give the file its name
	err    error      // the first error
}

// stdout returns a Writer of standard output; w is it.
func stdout(w io.Writer) *Writer {
	return &Writer{path: "standard output", direct: true, buf: bufio.NewWriterSize(w, 64<<10)}
}

// buffers are those of files that are complete: a run may write thousands, one after the other.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 256<<10) }}

// createTemp begins the file beside its place: without a name where there are such files, so that a
// process that is killed leaves nothing, and under a temporary name elsewhere.
func (w *Writer) createTemp() (err error) {
	if w.file, err = openUnnamed(folder(w.path)); err == nil {
		w.hidden = true
		return nil
	}
	w.file, err = os.CreateTemp(folder(w.path), ".simdb-*.tmp")
	return err
}

// begin makes the buffers of an open file, to which to writes.
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

// renaming writes to a file, of which errors say the name that it will have.
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

// Write adds to the file.
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

// EndPart ends the gzip member or zstd frame, if the file is compressed: what is written next can
// be read without what came before.
func (w *Writer) EndPart() error {
	if w.zip != nil && w.err == nil && !w.parted {
		w.err = w.zip.Close()
		w.parted = true
	}
	return w.err
}

// Flush hands what has been written to the operating system; compressed files wait until Commit.
func (w *Writer) Flush() error {
	if w.err == nil && w.zip == nil {
		w.err = w.buf.Flush()
	}
	return w.err
}

// Commit completes the file, makes it durable and gives it its name.
func (w *Writer) Commit() error { return Commit(w) }

// Commit completes files and then gives all of them their names; if one can't be completed, none
// gets its name. A nil Writer counts as complete.
func Commit(ws ...*Writer) error {
	var err error
	for _, w := range ws {
		if w != nil && err == nil {
			err = w.finish()
		}
	}
	var folders []string // as many as differ in spelling, each once
	for _, w := range ws {
		if w != nil && err == nil {
			if err = w.publish(); err == nil && w.named() && !slices.Contains(folders, folder(w.path)) {
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

// Finish completes the file and makes it durable. Commit, which has to follow, gives it its name.
// It is for who writes many files one after the other and wants all of them or none: a finished one
// takes no memory.
func (w *Writer) Finish() error {
	if w.err == nil {
		w.err = w.finish()
	}
	if w.err == nil {
		w.err = w.reveal()
	}
	return w.err
}

// finish writes what is left and makes it durable. It closes the file, unless that has no name yet:
// that gets one only when all files of a Commit are durable. It checks once more that nothing else
// would be lost by giving the file its name.
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

// settle gives the file the permissions of the one it replaces, or the usual ones, makes it
// durable, gives it a temporary name if it has none, and closes it.
func (w *Writer) settle() error {
	mode := os.FileMode(0o666) &^ umask()
	if st, err := os.Stat(w.path); err == nil {
		mode = st.Mode().Perm()
	}
	if err := w.file.Chmod(mode); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	if w.hidden { // named by publish, or by Finish
		return nil
	}
	return w.file.Close()
}

// reveal gives a settled file that has no name the temporary one, and closes it.
func (w *Writer) reveal() error {
	if !w.hidden {
		return nil
	}
	w.hidden = false
	return errors.Join(link(w.file), w.file.Close())
}

// named reports whether the file gets its name when it is committed.
func (w *Writer) named() bool { return w.file != nil && !w.direct }

// publish gives the finished file its name, which is durable once its folder is synced.
func (w *Writer) publish() error {
	if !w.named() {
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

// Abort drops the file; after Commit it does nothing. It may be called while another goroutine
// writes, to clean up before the process ends.
func (w *Writer) Abort() {
	if !w.named() {
		return
	}
	w.file.Close()
	os.Remove(w.file.Name())
}

// Continue copies into the output what its file holds already, so that what is written comes after
// it. There may be none.
func (w *Writer) Continue() error {
	if !w.named() {
		return nil
	}
	f, err := os.Open(w.path)
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
		if r, err = gzip.NewReader(f); errors.Is(err, io.EOF) { // it is empty
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
		return fmt.Errorf("%s: it could not be gone on with: %w", called(w.flag, w.path), Cause(err))
	}
	return nil
}
