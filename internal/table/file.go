package table

import (
	"fmt"
	"io"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/pages"
	"github.com/simdb/simdb/internal/vfs"
)

// File is the file that OpenFile reads as a table.
type File interface {
	// Mmap returns the whole file, read-only, and a function that releases the mapping.
	Mmap() (data []byte, unmap func() error, err error)
	// Close closes the file. The mapping outlives it.
	Close() error
}

// pageLimits are the sizes that decide how the pages of a table are brought into memory. Tests
// change the variable.
var pageLimits = pages.Machine

// Open maps the table in the file at path into memory. It returns errors of the file system, a
// *CorruptionError, or, for a table of a newer format, an error that wraps ErrUnsupported.
func Open(path string) (*Reader, error) {
	f, err := vfs.Disk.Open(path)
	if err != nil {
		return nil, err
	}
	return OpenFile(f, path)
}

// OpenReaderAt reads a table of size bytes from r into memory. Errors about the table call it name.
// OpenReaderAt does not use r after it has returned.
func OpenReaderAt(r io.ReaderAt, size int64, name string) (*Reader, error) {
	if size < 0 || int64(int(size)) != size {
		return nil, fmt.Errorf("%s: a table of %d bytes does not fit into memory", name, size)
	}
	data := make([]byte, size)
	if n, err := r.ReadAt(data, 0); n < len(data) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return OpenBytes(data, name)
}

// OpenFile opens the table in f, which errors call name. From here on the Reader owns f; OpenFile
// closes f if it fails.
func OpenFile(f File, name string) (*Reader, error) {
	data, unmap, err := f.Mmap()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	t := &format.Table{File: name, Data: data, Unmap: unmap, Closer: f.Close}
	if a, ok := f.(vfs.Adviser); ok {
		t.Pages = pages.New(a, data, pageLimits())
	}
	return newReader(t)
}
