// Package catalog is the file CATALOG of a database: it lists the live tables, their deleted
// documents, and the first log to replay. Only the catalog defines the contents of a database; a
// flush, a compaction or a bulk load becomes visible when a bbolt transaction changes the catalog.
//
// The state is small and is read as a whole when the catalog is opened; after that the file is only
// written. bbolt provides atomic and durable transactions, but it checksums only the two pages that
// hold the root, and a damaged tree makes it panic in a goroutine that it starts. This package
// therefore adds:
//
//   - a walk over the tree, page by page, before bbolt opens the file; it checks everything that
//     bbolt assumes, and reads the state (pages.go);
//   - a checksum over every key with its value (record.go);
//   - a digest over the set of all records, which detects a lost or stale record;
//   - a check that both root pages are intact and belong to successive transactions: bbolt would
//     silently fall back to the older one.
//
// Damage is a *base.CorruptionError. After a failed transaction the file may have either of two
// states, so the catalog refuses changes until it is opened again. The exception is a full disk:
// bbolt writes the root page last, so if the root is unchanged, nothing has changed.
//
// Deleted documents are stored as Roaring bitmaps, one for every 65,536 documents of a table, and
// deltas: the further documents that an edit has deleted, in one record. When the deltas of a table
// are large, an edit folds them into the other bitmaps, of which it rewrites those that change.
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

// TempSuffix is appended to the name of a catalog while it is being created. After a crash such a
// file may be removed.
const TempSuffix = ".tmp"

// Catalog is a catalog that is open for writing. It may be used by many goroutines at once.
type Catalog struct {
	fs   vfs.FS
	name string

	mu     sync.Mutex
	db     *bbolt.DB // nil once closed
	live   live
	digest digest
	txid   uint64 // number of the last transaction
	err    error  // the failure after which nothing is written

	written atomic.Int64 // see Written
}

// Create makes a new catalog with that name, and returns once the file and its name are durable. It
// fails with fs.ErrExist if the name exists. A crash may leave a file whose name ends with
// TempSuffix, which the next Create overwrites.
func Create(fs vfs.FS, name string, s State) error {
	if err := Begin(fs, name, s); err != nil {
		return err
	}
	return Complete(fs, name)
}

// Begin makes a new catalog under its name plus TempSuffix, under which it is opened until
// Complete. It overwrites a file with that name.
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

// Complete renames a catalog that Begin made, and that nobody has open, to its final name, durably.
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

// Open opens a catalog for writing and returns it with its state. If another process has the
// catalog open, the error is a *vfs.LockedError.
func Open(fs vfs.FS, name string) (*Catalog, *State, error) {
	state, t, digest, err := read(fs, name)
	if err == nil {
		// The process that wrote the last transaction may have been killed before it synced it, and
		// opening for writing removes files that this transaction no longer lists.
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

// Read returns the state of a catalog, and the number of its last transaction. It does not lock the
// file, and another process may write the catalog meanwhile: then Read fails with ErrMoved or a
// *base.CorruptionError. To tell this from real damage, compare Transaction before and after, and
// read again if it has changed.
//
// A transaction of bbolt writes only pages that the previous state does not use, and then the root
// page. If the root has the same transaction before and after reading, all pages read belong to
// that transaction.
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

// Transaction returns the number of a catalog's last transaction. A reader compares it to find out
// whether the catalog has changed.
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
// After ErrInvalid or a *vfs.NoSpaceError nothing has changed; after any other error the change may
// or may not be in the file, and every later Apply fails with the same error. The caller must not
// change the bitmaps of the edit until Apply returns.
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
			return &vfs.NoSpaceError{Err: err}
		}
		c.err = err
		return c.err
	}
	c.digest, c.live = sum, p.live
	c.txid++
	return nil
}

// unchanged reports whether the newest transaction in the file is certainly c.txid.
func (c *Catalog) unchanged() bool {
	f, err := c.fs.HostFile(c.name, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	m, err := (&walker{f: hostReader{f: f}, name: c.name}).meta()
	return err == nil && m.txid == c.txid
}

// hostReader wraps a file of the operating system as a vfs.File for reading.
type hostReader struct {
	vfs.File
	f *os.File
}

// ReadAt reads from the file.
func (h hostReader) ReadAt(p []byte, off int64) (int, error) { return h.f.ReadAt(p, off) }

// Size returns the size of the file in bytes.
func (h hostReader) Size() (int64, error) {
	info, err := h.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// transact runs one transaction. It does not use bbolt's Update, which rolls back after a panic:
// the rollback reads the tree again, in another goroutine, where a second panic would kill the
// process.
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
	c.written.Add(stats.GetPageAlloc() + pageSize) // plus the root page
	return sum, err
}

// History returns the removed documents that the catalog has.
func (c *Catalog) History() *History {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live.history
}

// Written returns how many bytes changes of the catalog have written since it was opened.
func (c *Catalog) Written() int64 { return c.written.Load() }

// Close closes the file. A second call does nothing.
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
		return nil // bbolt panicked while holding locks for which Close would wait
	}
	if err := guard(c.name, db.Close); err != nil {
		return fmt.Errorf("close catalog %s: %w", c.name, err)
	}
	return nil
}
