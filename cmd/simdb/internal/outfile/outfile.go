// Package outfile writes output files that are there whole or not at all: they are written beside their place under
// another name and renamed when they are complete. Names that end in .gz and .zst are compressed.
package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Writer is an output file in the making.
type Writer struct {
	path   string
	file   *os.File // nil where the output is no file of ours
	direct bool     // the path is written itself: standard output, a pipe or a device
	buf    *bufio.Writer
	zip    io.WriteCloser // between the caller and buf, or nil
	err    error          // the first error
}

// Stdout returns a Writer of standard output; w is it.
func Stdout(w io.Writer) *Writer {
	return &Writer{path: "standard output", direct: true, buf: bufio.NewWriterSize(w, 64<<10)}
}

// Create begins to write the file at path.
func Create(path string) (*Writer, error) {
	w := &Writer{path: path}
	var err error
	if st, e := os.Stat(path); e == nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return nil, fmt.Errorf("%s is a folder", path)
		}
		w.direct = true
		w.file, err = os.OpenFile(path, os.O_WRONLY, 0)
	} else {
		w.file, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	}
	if err != nil {
		return nil, err
	}
	w.buf = bufio.NewWriterSize(w.file, 256<<10)
	switch filepath.Ext(strings.ToLower(path)) {
	case ".gz":
		w.zip = gzip.NewWriter(w.buf)
	case ".zst":
		if w.zip, err = zstd.NewWriter(w.buf); err != nil {
			w.Abort()
			return nil, err
		}
	}
	return w, nil
}

// Write adds to the file.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	var n int
	if w.zip != nil {
		n, w.err = w.zip.Write(p)
	} else {
		n, w.err = w.buf.Write(p)
	}
	return n, w.err
}

// Flush hands what has been written to the operating system; compressed files wait until Commit.
func (w *Writer) Flush() error {
	if w.err == nil && w.zip == nil {
		w.err = w.buf.Flush()
	}
	return w.err
}

// Commit completes the file, makes it durable and gives it its name.
func (w *Writer) Commit() error {
	err := w.err
	if w.zip != nil && err == nil {
		err = w.zip.Close()
	}
	if err == nil {
		err = w.buf.Flush()
	}
	if w.file == nil {
		return err
	}
	if w.direct {
		return errors.Join(err, w.file.Close())
	}
	if err == nil {
		err = w.settle()
	}
	if err != nil {
		w.Abort()
		return err
	}
	return os.Rename(w.file.Name(), w.path)
}

// settle gives the file the permissions of the one it replaces, or the usual ones, and closes it.
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
	return w.file.Close()
}

// Abort drops the file; after Commit it does nothing. It may be called while another goroutine writes, to clean up
// before the process ends.
func (w *Writer) Abort() {
	if w.file == nil || w.direct {
		return
	}
	w.file.Close()
	os.Remove(w.file.Name())
}
