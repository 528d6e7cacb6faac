package vfstest

import (
	"cmp"
	"errors"

	"github.com/simdb/simdb/internal/vfs"
)

type faultyFile struct {
	y    *Faulty
	f    vfs.File
	name string
}

func (f *faultyFile) Write(p []byte) (int, error) {
	err := f.y.op(OpWrite, f.name, len(p))
	if err == nil {
		return f.f.Write(p)
	}
	short, ok := errors.AsType[*ShortWrite](err)
	if !ok {
		return 0, err
	}
	n, writeErr := f.f.Write(p[:min(max(short.N, 0), len(p))])
	if writeErr != nil {
		return n, writeErr
	}
	return n, err
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.y.op(OpRead, f.name, len(p)); err != nil {
		return 0, err
	}
	return f.f.ReadAt(p, off)
}

func (f *faultyFile) Sync() error { return f.y.do(OpSync, f.name, f.f.Sync) }

func (f *faultyFile) Truncate(size int64) error {
	return f.y.do(OpTruncate, f.name, func() error { return f.f.Truncate(size) })
}

func (f *faultyFile) Size() (int64, error) {
	return get(f.y, OpSize, f.name, func(string) (int64, error) { return f.f.Size() })
}

func (f *faultyFile) Mmap() ([]byte, func() error, error) {
	if err := f.y.op(OpMmap, f.name, 0); err != nil {
		return nil, nil, err
	}
	return f.f.Mmap()
}

func (f *faultyFile) Close() error {
	return cmp.Or(f.y.op(OpClose, f.name, 0), f.f.Close())
}
