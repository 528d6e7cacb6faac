package sstable

import (
	"fmt"
	"io"

	"github.com/simdb/simdb/internal/vfs"
)

// File is what OpenFile reads a table from.
type File interface {
	// Mmap returns the whole file, read-only, and what releases it.
	Mmap() (data []byte, unmap func() error, err error)
	// Close closes the file. The mapping outlives it.
	Close() error
}

// IndexAdviser is a File that can use to know which part of its mapping searches read.
type IndexAdviser interface {
	// AdviseIndex says that searches read data[from:], data being what Mmap has returned.
	AdviseIndex(data []byte, from int64)
}

// Open maps the table in the file of that name into memory. Errors are those of the file system,
// *CorruptionError, and for a table of a newer format one with ErrUnsupported.
func Open(path string) (*Reader, error) {
	f, err := vfs.Disk.Open(path)
	if err != nil {
		return nil, err
	}
	return OpenFile(f, path)
}

// OpenReaderAt reads a table of size bytes from r into memory. Errors about it call it name. r
// is not used any more when OpenReaderAt has returned.
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

// OpenFile opens the table in f, which errors call name. The Reader owns f from here on, and closes
// it also if OpenFile fails.
func OpenFile(f File, name string) (*Reader, error) {
	data, unmap, err := f.Mmap()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	r, err := OpenBytes(data, name)
	if err != nil {
		if unmap != nil {
			unmap()
		}
		f.Close()
		return nil, err
	}
	r.unmap, r.closer = unmap, f.Close
	if a, ok := f.(IndexAdviser); ok {
		a.AdviseIndex(data, r.indexOffset())
	}
	return r, nil
}
