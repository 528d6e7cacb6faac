package catalog

import (
	"errors"
	"fmt"
	"io"
	"os"

	"go.etcd.io/bbolt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// Check reads a catalog whole and returns what is wrong with it: what Read finds, and what bbolt's
// own check does, which also looks at the pages that are not in use. It takes no lock. If another
// process writes the catalog meanwhile it fails with ErrMoved.
//
// bbolt's check runs in a goroutine of bbolt, where a panic would end the process. So it gets a
// copy that no other process changes, after a walk over that copy has checked all that bbolt takes
// for granted.
func Check(fs vfs.FS, name string) (problems []error, err error) {
	before, err := readMeta(fs, name)
	if err != nil {
		return asProblem(err)
	}
	temp, err := os.CreateTemp("", "simdb-check-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, temp.Close(), os.Remove(temp.Name())) }()
	if err := copyTo(temp, fs, name); err != nil {
		return nil, err
	}
	now, err := readMeta(fs, name)
	if err != nil {
		return asProblem(err)
	}
	if now != before {
		return nil, fmt.Errorf("check catalog: transaction %d came after %d: %w", now.txid, before.txid, ErrMoved)
	}
	t, err := walkFile(hostReader{f: temp}, name)
	if err == nil {
		_, _, err = decodeState(name, t)
	}
	if err != nil {
		return asProblem(err)
	}
	return checkBolt(temp.Name(), name)
}

// asProblem returns damage as a problem, and other errors as they are.
func asProblem(err error) ([]error, error) {
	if errors.Is(err, base.ErrCorruption) {
		return []error{err}, nil
	}
	return nil, err
}

// copyTo copies a catalog to a host file.
func copyTo(to *os.File, fs vfs.FS, name string) error {
	f, err := fs.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err == nil {
		_, err = io.Copy(to, io.NewSectionReader(f, 0, size))
	}
	return err
}

// checkBolt runs bbolt's check on a copy of the catalog called name.
func checkBolt(path, name string) (problems []error, err error) {
	opts := boltOptions()
	opts.ReadOnly = true
	db, err := bbolt.Open(path, 0o600, opts)
	if err != nil {
		return nil, fmt.Errorf("check catalog %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.View(func(tx *bbolt.Tx) error {
		for problem := range tx.Check() {
			problems = append(problems, base.Corruptf(name, "pages", -1, "%w", problem))
		}
		return nil
	})
	return problems, err
}

// hostReader is a file of the operating system, to be read as one of vfs.
type hostReader struct {
	vfs.File
	f *os.File
}

// ReadAt is that of the file.
func (h hostReader) ReadAt(p []byte, off int64) (int, error) { return h.f.ReadAt(p, off) }

// Size returns the size in bytes.
func (h hostReader) Size() (int64, error) {
	info, err := h.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
