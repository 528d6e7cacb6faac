package catalog

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

const (
	// lockTimeout is how long to wait for another process to close the file. The lock of the
	// database excludes another writer long before.
	lockTimeout = time.Second
	// mapSize is the initial size of bbolt's mapping: 64 MiB, or 4 MiB where addresses have 32 bits
	// and are scarce. A larger file would have to be mapped again, which waits for all readers.
	mapSize = 4 << (20 + 4*(^uint(0)>>63))
	// growSize is the step by which the file grows. bbolt's 16 MiB are meant for large files.
	growSize = 64 << 10
)

// boltOptions returns the options for every use. The freelist is not stored, which saves writing it
// in every transaction: opening finds it by walking the tree. The page size is fixed, so that the
// file is the same on every machine with the same byte order.
func boltOptions() *bbolt.Options {
	opts := &bbolt.Options{
		Timeout:        lockTimeout,
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
		PageSize:       pageSize,
	}
	if runtime.GOOS != "windows" { // on Windows bbolt would grow the file to the size of the map
		opts.InitialMmapSize = mapSize
	}
	return opts
}

// An opener opens a host file for bbolt, and ignores the path that bbolt passes.
type opener func(path string, flag int, mode os.FileMode) (*os.File, error)

func hostFile(fs vfs.FS, name string) opener {
	return func(_ string, flag int, _ os.FileMode) (*os.File, error) { return fs.HostFile(name, flag) }
}

func (o opener) open(name string) (*bbolt.DB, error) {
	opts := boltOptions()
	opts.OpenFile = o
	return bbolt.Open(name, 0o644, opts)
}

// openBolt opens the host file of the catalog called name. It fails if the last transaction is not
// txid.
func openBolt(host opener, name string, txid uint64) (db *bbolt.DB, err error) {
	err = guard(name, func() (err error) {
		db, err = host.open(name)
		if err != nil {
			return err
		}
		db.AllocSize = growSize
		return db.View(func(tx *bbolt.Tx) error {
			if got := uint64(tx.ID()); got != txid {
				return fmt.Errorf("transaction %d was written while the file was opened", got)
			}
			return nil
		})
	})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, &vfs.LockedError{File: name}
	}
	if err != nil && db != nil {
		db.Close()
	}
	return db, errnoOf(err)
}

// writeNew writes the records of a catalog into an empty file.
func writeNew(host opener, records []record, sum digest) error {
	db, err := host.open("new catalog")
	if err != nil {
		return err
	}
	db.AllocSize = growSize
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte(bucketName))
		if err != nil {
			return err
		}
		for _, r := range append(records, sum.record(uint64(tx.ID()))) {
			if err := b.Put(r.key, r.value); err != nil {
				return err
			}
		}
		return nil
	})
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	return err
}

// panicked wraps a panic of bbolt, or a fault in its map.
type panicked struct{ reason any }

func (p *panicked) Error() string { return fmt.Sprintf("bbolt panicked: %v", p.reason) }

// guard runs f, and turns panics and faults in mapped memory into corruption errors: another
// process may shorten a file that was intact when it was opened.
func guard(name string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = base.Corruptf(name, "pages", -1, "%w", &panicked{r})
		}
	}()
	return f()
}

// errnoOf restores the cause of an error that bbolt has wrapped as text: bbolt grows the file with
// fmt.Errorf("... %s", err), and errors.Is would not find ENOSPC.
func errnoOf(err error) error {
	var errno syscall.Errno
	if err == nil || errors.As(err, &errno) {
		return err
	}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EFBIG, syscall.EROFS} {
		if strings.HasSuffix(err.Error(), errno.Error()) {
			return fmt.Errorf("%w (%w)", err, errno)
		}
	}
	return err
}
