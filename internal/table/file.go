package table

import (
	"errors"
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

// OpenReaderAt opens a table of size bytes that r reads, for example from a server: it reads the end
// of the file, and later only what is needed, in few calls of ReadAt. What has been read stays in
// memory until the table is closed. Several goroutines may use r at the same time, until Close. Errors
// call the table name.
func OpenReaderAt(r io.ReaderAt, size int64, name string) (*Reader, error) {
	data, release, err := vfs.Reserve(size)
	if err != nil {
		return nil, fmt.Errorf("%s: a table of %d bytes does not fit into memory: %w", name, size, err)
	}
	p, err := pages.Remote(r, data, name)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return newReader(&format.Table{File: name, Data: data, Unmap: release, Pages: p})
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
