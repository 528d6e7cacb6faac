package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// DB is an open database. All methods may be called from many goroutines.
type DB struct {
	path    string
	uuid    [16]byte
	fs      vfs.FS  // takes paths of any place
	dir     *folder // the database's own; nil for a single table file
	opts    Options // defaults filled in
	params  sstable.Params
	sumPool sync.Pool // of *fingerprint.State
	ttl     time.Duration
	log     *slog.Logger
	lock    io.Closer
	cat     *catalog.Catalog // nil for a single table file

	compactMu sync.Mutex // one compaction at a time; taken before all others
	publishMu sync.Mutex

	writeMu sync.Mutex // with seq and active, which only its holder changes
	active  *memtable
	last    commit // the newest; zero if the active memtable's log has none

	// newestLog is the newest log that holds, or held, writes, zero for none: the next log names it as the one before. Its size is
	// that at its closing, and not known while it is written to. A log that recovery removed, or whose creation failed, never is it.
	newestLog catalog.LogEnd

	mu        sync.Mutex
	seq       uint64      // of the last visible write
	immutable []*memtable // oldest first; replaced, never changed in place
	current   *version
	nextFile  uint64
	marks     map[string]int64
	allowed   *allowedPairs
	flushed   sync.Cond // on mu: immutable got shorter, a flush failed, or the database closed

	failed    atomic.Pointer[error] // why the writer is poisoned
	closed    atomic.Bool
	closeOnce sync.Once
	closeErr  error
	stop      context.CancelFunc // ends background work
	background
	metrics metrics
}

// A folder is the open folder of a database. What is done in it is done in that one, even if it was renamed or another took its name.
// The DB holds it, and so does every table, whose file may be removed after the DB was closed.
type folder struct {
	vfs.Root
	refs atomic.Int32
}

func openFolder(fsys vfs.FS, path string) (*folder, error) {
	root, err := fsys.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	f := &folder{Root: root}
	f.refs.Store(1)
	return f, nil
}

func (f *folder) retain() *folder {
	f.refs.Add(1)
	return f
}

func (f *folder) release() error {
	if f.refs.Add(-1) > 0 {
		return nil
	}
	return f.Close()
}

// Path returns the path that the database was opened with.
func (db *DB) Path() string { return db.path }

func (db *DB) now() time.Time {
	if db.opts.now != nil {
		return db.opts.now()
	}
	return time.Now()
}

// writable returns why the database takes no writes, or nil.
func (db *DB) writable() error {
	switch {
	case db.closed.Load():
		return ErrClosed
	case db.opts.ReadOnly:
		return fmt.Errorf("%s: %w", db.path, ErrReadOnly)
	}
	if err := db.failed.Load(); err != nil {
		return fmt.Errorf("%w: %w", ErrFailed, *err)
	}
	return nil
}

// fail poisons the writer: what is on disk is no longer known, so nothing more is written until the database is opened
// again. Reading goes on. It returns the error for the caller to return.
func (db *DB) fail(err error) error {
	if db.failed.CompareAndSwap(nil, &err) {
		db.log.Error("write failed; the database takes no more writes until it is reopened", "path", db.path, "err", err)
		db.event(Event{Kind: "error", Err: err})
	}
	db.mu.Lock()
	db.flushed.Broadcast()
	db.mu.Unlock()
	return fmt.Errorf("%w: %w", ErrFailed, err)
}

func (db *DB) event(e Event) {
	if db.opts.OnEvent != nil {
		db.opts.OnEvent(e)
	}
}

// A place is where a document is: in a memtable, or at a number of a part.
type place struct {
	mem  *memDoc
	part *part
	doc  uint32
}

// kill marks the document dead since seq.
func (p place) kill(seq uint64) {
	if p.mem != nil {
		p.mem.dead.Store(seq)
		return
	}
	p.part.dead.kill(p.doc, seq)
}

// latest is a sequence number that is greater than those of all writes.
const latest = ^uint64(0)

// locateLocked finds the living document with this ID as the writer sees it. The caller holds writeMu.
func (db *DB) locateLocked(id string) (place, bool, error) {
	db.mu.Lock()
	v, imm := db.current, db.immutable
	db.mu.Unlock()
	if d := db.active.find(id, latest); d != nil {
		return place{mem: d}, true, nil
	}
	for _, m := range slices.Backward(imm) {
		if d := m.find(id, latest); d != nil {
			return place{mem: d}, true, nil
		}
	}
	return v.locate(id, latest)
}

// locate finds the document with this ID that is alive at seq in the version's tables.
func (v *version) locate(id string, seq uint64) (place, bool, error) {
	for i := range v.parts {
		p := &v.parts[i]
		doc, ok, err := p.Lookup([]byte(id))
		if err != nil {
			return place{}, false, err
		}
		if ok && !p.dead.deadAt(doc, seq) {
			return place{part: p, doc: doc}, true, nil
		}
	}
	return place{}, false, nil
}

// allocFile returns a number for a new file.
func (db *DB) allocFile() uint64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	n := db.nextFile
	db.nextFile++
	return n
}

// nextSeq returns the sequence number of the next write. It stays that only while writeMu is held.
func (db *DB) nextSeq() uint64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.seq + 1
}

// install makes parts the current version. The caller holds publishMu, writeMu and mu.
func (db *DB) install(parts []part) *version {
	slices.SortFunc(parts, func(a, b part) int {
		if a.meta.Number > b.meta.Number {
			return -1
		}
		return 1
	})
	old := db.current
	db.current = newVersion(parts)
	return old
}

// rotateLocked makes the active memtable immutable. Its log is ended and made safe first, so that only the newest log of a
// database can have a torn tail. The caller holds writeMu.
func (db *DB) rotateLocked() error {
	if w := db.active.log; w != nil {
		if err := w.Close(); err != nil {
			return db.fail(fmt.Errorf("writing the log: %w", err))
		}
		db.newestLog.Size = w.Size()
	}
	db.mu.Lock()
	db.immutable = append(slices.Clone(db.immutable), db.active)
	db.active = newMemtable()
	db.mu.Unlock()
	db.last = commit{}
	db.wakeFlush()
	return nil
}

// startLogLocked gives the active memtable a log if it has none. Logs are made for the first write and not earlier, so that
// reading a database writes nothing. The caller holds writeMu.
func (db *DB) startLogLocked() error {
	if db.active.log != nil {
		return nil
	}
	number := db.allocFile()
	w, err := wal.Create(db.dir, logName(number), wal.Header{Database: db.uuid, Number: number})
	if err == nil {
		_, err = w.Append(encodeLogStart(db.newestLog.Number))
	}
	if err != nil {
		return db.fail(fmt.Errorf("starting a log: %w", err))
	}
	db.active.log, db.active.logs = w, append(db.active.logs, number)
	db.newestLog = catalog.LogEnd{Number: number}
	return nil
}

func (db *DB) immutables() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	return len(db.immutable)
}

// waitFlush waits until a memtable was flushed, or can't be any more.
func (db *DB) waitFlush(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		db.mu.Lock()
		db.flushed.Broadcast()
		db.mu.Unlock()
	})
	defer stop()
	db.mu.Lock()
	defer db.mu.Unlock()
	for n := len(db.immutable); len(db.immutable) >= n && n > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if db.failed.Load() != nil || db.closed.Load() {
			return nil // the caller's next check says which
		}
		db.flushed.Wait()
	}
	return nil
}

// Close ends background work and releases the files. What was acknowledged is in the log and tables; a database need not
// be closed to be safe. Close waits for running writes; using the database afterwards is ErrClosed. Snapshots that are
// still open stay readable. Small tables that are due are merged first, as nobody else may get the time for it. A second Close
// returns what the first did.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		db.stop()
		if db.compactC != nil && !db.opts.DisableAutoCompaction {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			db.compactAuto(ended)
		}
		db.closed.Store(true)
		db.mu.Lock()
		db.flushed.Broadcast()
		db.mu.Unlock()
		db.background.wait()
		db.writeMu.Lock()
		defer db.writeMu.Unlock()
		err := db.closeLogLocked()
		if err == nil {
			db.markClosed()
		}
		db.closeErr = errors.Join(err, db.release())
	})
	return db.closeErr
}

// closeLogLocked ends the log that is being written, if there is one; those before it were ended when their memtables were rotated.
// The caller holds writeMu.
func (db *DB) closeLogLocked() error {
	w := db.active.log
	if w == nil {
		return nil
	}
	err := w.Close()
	db.newestLog.Size = w.Size()
	return err
}

// markClosed notes in the catalog where the newest log ended, so that the next Open misses it if it is gone or shorter. It comes
// after the log has ended. A database without the mark is as whole as one with it, so that a failure is no reason to say that
// closing failed.
func (db *DB) markClosed() {
	if db.cat == nil || db.opts.ReadOnly || db.failed.Load() != nil || db.newestLog.Number == 0 {
		return
	}
	if err := db.cat.Apply(catalog.Edit{SetClosed: &db.newestLog}); err != nil {
		db.log.Warn("noting in the catalog where the log ended", "path", db.path, "err", err)
	}
}

// release closes what the database holds but its logs; parts that were never opened are skipped.
func (db *DB) release() error {
	var errs []error
	db.mu.Lock()
	v := db.current
	db.current = nil
	db.mu.Unlock()
	if v != nil {
		errs = append(errs, v.unref())
	}
	if db.cat != nil {
		errs = append(errs, db.cat.Close())
	}
	if db.lock != nil {
		errs = append(errs, db.lock.Close())
	}
	if db.dir != nil {
		errs = append(errs, db.dir.release())
	}
	return errors.Join(errs...)
}
