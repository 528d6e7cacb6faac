// Package catalog is the file CATALOG of a database: which tables are live, which of their
// documents are deleted, and where the log starts. It is the one place that says what the database
// is; a change of it, a transaction of bbolt, is the moment at which a flush, a compaction or a
// bulk load becomes visible.
//
// The state is small and is read as a whole when the catalog is opened; after that the file is only
// written. bbolt gives atomic and durable transactions, but checksums none of its pages except the
// two that hold the root, and panics, in a goroutine of its own, on a damaged tree. So this package
// adds:
//
//   - a walk over the tree, page by page, before bbolt opens the file, which checks all that bbolt
//     takes for granted, and from which the state is read (pages.go);
//   - a checksum over every key with its value (record.go);
//   - a digest over the set of all records, so that a lost or a stale one is noticed;
//   - both root pages must be intact and stem from successive transactions: bbolt would fall back
//     silently to the older one.
//
// Damage is a *base.CorruptionError. After a failed transaction nobody knows which of the two
// states the file has, and the catalog takes no further changes until it is opened again. The
// exception is a full disk: bbolt writes the root page last, so if that has not changed, nothing
// has.
//
// Deleted documents are kept as Roaring bitmaps, one for every 65,536 documents of a table. So
// values stay below about 8 KiB, and a deletion rewrites one of them.
package catalog

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"github.com/simdb/simdb/internal/vfs"
)

// TempSuffix is appended to the name of a catalog while it is being created. A file of such a name
// is left by a crash and may be removed.
const TempSuffix = ".tmp"

// Catalog is a catalog that is open for writing. It may be used by many goroutines at once.
type Catalog struct {
	fs   vfs.FS
	name string

	mu     sync.Mutex
	db     *bbolt.DB // nil once closed
	live   live
	digest digest
	txid   uint64 // the last transaction
	err    error  // the failure after which nothing is written

	written atomic.Int64 // see Written
}

// Create makes a new catalog of that name, and returns once it is durable with its name. It fails
// with fs.ErrExist if there is one. What a crash may leave is a file of the name with TempSuffix,
// in the place of which the next Create writes.
func Create(fs vfs.FS, name string, s State) error {
	if err := Begin(fs, name, s); err != nil {
		return err
	}
	return Complete(fs, name)
}

// Begin makes a new catalog under the name with TempSuffix, by which it is opened until Complete. Of
// that name there is a file from then on at the latest, and before that, too, if there was one.
func Begin(fs vfs.FS, name string, s State) error {
	if err := begin(fs, name, s); err != nil {
		return fmt.Errorf("create catalog %s: %w", name, err)
	}
	return nil
}

func begin(fs vfs.FS, name string, s State) error {
	records, sum, err := encodeState(s)
	if err != nil {
		return err
	}
	if _, err := fs.Stat(name); err == nil {
		return iofs.ErrExist
	} else if !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	temp := name + TempSuffix
	f, err := fs.Create(temp)
	if errors.Is(err, iofs.ErrExist) {
		f, err = fs.Append(temp)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(0), f.Close()); err != nil {
		return err
	}
	return errnoOf(fs.Commit(temp, func() error { return writeNew(hostFile(fs, temp), records, sum) }))
}

// Complete gives a catalog that Begin made, and that nobody has open, its name, durably.
func Complete(fs vfs.FS, name string) error {
	err := fs.Rename(name+TempSuffix, name)
	if err == nil {
		err = fs.SyncDir(filepath.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("create catalog %s: %w", name, err)
	}
	return nil
}

// Open opens a catalog for writing and returns it with what it says. A catalog that another process
// has open is a *vfs.LockedError.
func Open(fs vfs.FS, name string) (*Catalog, *State, error) {
	state, t, digest, err := read(fs, name)
	if err == nil {
		// The last transaction may come from a process that was killed before it synced it, and an
		// open for writing removes files that this transaction no longer lists.
		err = vfs.SyncFile(fs, name)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open catalog: %w", err)
	}
	db, err := openBolt(hostFile(fs, name), name, t.txid)
	if err != nil {
		return nil, nil, fmt.Errorf("open catalog %s: %w", name, err)
	}
	return &Catalog{fs: fs, name: name, db: db, live: liveOf(*state), digest: digest, txid: t.txid}, state, nil
}

// Read returns what a catalog says, and the number of its last transaction. It takes no lock, and
// another process may write the catalog meanwhile: then it fails, with ErrMoved or as for a damaged
// file. Who reads again while Transaction changes tells the two apart.
//
// A transaction of bbolt writes only pages that the state before it does not use, and then the root
// page. So pages that were read between two looks at the root, which found the same transaction,
// are of that transaction.
func Read(fs vfs.FS, name string) (*State, uint64, error) {
	state, t, _, err := read(fs, name)
	if err != nil {
		return nil, 0, fmt.Errorf("read catalog: %w", err)
	}
	switch now, err := Transaction(fs, name); {
	case err != nil:
		return nil, 0, err
	case now != t.txid:
		return nil, 0, fmt.Errorf("read catalog: transaction %d came after %d: %w", now, t.txid, ErrMoved)
	}
	return state, t.txid, nil
}

// Transaction returns the number of a catalog's last transaction, by which a reader knows whether
// it has changed.
func Transaction(fs vfs.FS, name string) (uint64, error) {
	m, err := readMeta(fs, name)
	if err != nil {
		return 0, fmt.Errorf("read catalog: %w", err)
	}
	return m.txid, nil
}

// read reads a catalog without bbolt.
func read(fs vfs.FS, name string) (*State, tree, digest, error) {
	t, err := readTree(fs, name)
	if err != nil {
		return nil, tree{}, digest{}, err
	}
	state, sum, err := decodeState(name, t)
	return state, t, sum, err
}

// Apply makes the changes of an edit in one transaction; they are durable when it returns nil.
// After ErrInvalid or a *vfs.NoRoomError nothing has changed; after any other error the change may
// or may not be in the file, and every later Apply fails with the same error. The bitmaps of the
// edit must not be changed meanwhile, and may be afterwards.
func (c *Catalog) Apply(e Edit) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case c.db == nil:
		return fmt.Errorf("catalog %s: %w", c.name, ErrClosed)
	}
	p, err := c.live.plan(e)
	if err != nil {
		return fmt.Errorf("catalog %s: %w: %w", c.name, ErrInvalid, err)
	}
	if p.empty() {
		return nil
	}
	sum := c.digest
	err = c.fs.Commit(c.name, func() error {
		return guard(c.name, func() (err error) {
			sum, err = c.transact(p)
			return err
		})
	})
	if err != nil {
		err = fmt.Errorf("write catalog %s: %w", c.name, errnoOf(err))
		if vfs.IsFull(err) && c.unchanged() {
			return &vfs.NoRoomError{Err: err}
		}
		c.err = err
		return c.err
	}
	c.digest, c.live = sum, p.live
	c.txid++
	return nil
}

// unchanged reports whether the file is known to have the last transaction as its newest.
func (c *Catalog) unchanged() bool {
	f, err := c.fs.HostFile(c.name, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	m, err := (&walker{f: hostReader{f: f}, name: c.name}).meta()
	return err == nil && m.txid == c.txid
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

// transact runs one transaction. It does without bbolt's Update, which rolls back when it panics:
// that reads the tree again, in another goroutine, where a second panic would end the process.
func (c *Catalog) transact(p *plan) (digest, error) {
	tx, err := c.db.Begin(true)
	if err != nil {
		return digest{}, err
	}
	sum, err := p.write(tx, c.digest)
	if err != nil {
		return digest{}, errors.Join(err, tx.Rollback())
	}
	err = tx.Commit()
	stats := tx.Stats()
	c.written.Add(stats.GetPageAlloc() + pageSize) // and the root
	return sum, err
}

// Written returns how many bytes changes of the catalog have written since it was opened.
func (c *Catalog) Written() int64 { return c.written.Load() }

// Close closes the file; a second call does nothing.
func (c *Catalog) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db == nil {
		return nil
	}
	db := c.db
	c.db = nil
	var p *panicked
	if errors.As(c.err, &p) {
		return nil // bbolt stopped with its locks held, and Close would wait for them
	}
	if err := guard(c.name, db.Close); err != nil {
		return fmt.Errorf("close catalog %s: %w", c.name, err)
	}
	return nil
}
