package store

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// A Store is an open database. Its methods may be called from many goroutines.
type Store struct {
	view.Config
	Tables tables.Folder // tables in Config.Dir
	Small  *view.SmallTables
	fs     vfs.FS // accepts any path
	opts   Options
	log    *slog.Logger
	lock   io.Closer
	cat    *catalog.Catalog // nil for a single table file

	site     *files.Site // set if this Store created the database
	building bool        // the database appears under its name only when it is closed
	discard  bool        // closing removes the database

	merges    *merges.Scheduler // its lock comes before all others
	publishMu sync.Mutex
	sharing   *sharing // nil unless Options.Shared

	writeMu sync.Mutex // guards seq and active against changes by others
	active  *view.Memtable
	last    logPosition // end of the newest write
	newest  *wal.Writer // the log that was started last; nil for none
	spare   *wal.Writer // the next log, or nil

	writerView view.View   // buffers for the view of a write that searches first
	rotated    time.Time   // when active was created
	aging      *time.Timer // rotates active when it is old; nil while it is empty
	clock      dropClock

	// newestLog is the newest log with writes, now or earlier, zero for none: the next log names it
	// as its predecessor. Its size is set when it is closed. A log that recovery removed never
	// becomes newestLog.
	newestLog catalog.LogEnd

	readMu sync.Mutex // one Refresh at a time; locked before writeMu
	readTo readTo

	mu             sync.Mutex
	stoppedWriters atomic.Int32 // see StoppedWriters

	tableCount atomic.Int32     // tables of current that count for the limits of writers; changed under mu
	seq        uint64           // sequence number of the last visible write
	logFirst   uint64           // the first one of the newest log; more than any if writing will start a log
	immutable  []*view.Memtable // oldest first; replaced, never changed in place
	current    *view.Version
	resting    *view.Version // tables of a resting reader that are still in the folder, instead of current
	nextFile   uint64
	marks      map[string]int64
	allowedSet *view.AllowedPairs
	history    *catalog.History

	flushed sync.Cond // on mu: immutable became shorter, a flush failed, or the database closed
	flushes flushes

	failed    atomic.Pointer[error] // why the writer is poisoned
	closed    atomic.Bool
	closeOnce sync.Once
	closeErr  error
	stop      context.CancelFunc // ends background work
	stopping  <-chan struct{}    // closed by stop; nil if there is no background work
	background
	Counts Counts
}

// readTo is the position that a reader has reached.
type readTo struct {
	txid     uint64 // last transaction of the catalog
	flushed  uint64 // State.FlushedSeq
	firstLog uint64 // State.FirstWAL
	log      uint64 // newest log read so far, 0 for none
	first    uint64 // sequence number of its first write, 0 for none
	end      int64  // offset up to which it was read
	ended    bool   // the log has ended at end
}

// newDB returns a Store that has nothing open yet.
func newDB(path string, o Options) *Store {
	db := &Store{
		Config: view.Config{Path: path, Memory: o.Memory, Short: memindex.NewBudget(o.Memory / 2)}, fs: o.FS, opts: o, log: o.Logger,
		active: view.NewMemtable(table.Params{}), nextFile: 1, marks: map[string]int64{}, allowedSet: new(view.AllowedPairs),
		logFirst: noLog,
		history:  &catalog.History{Gone: view.Latest}, // of a store without a catalog
	}
	db.Params.Program = &db.opts.Features
	db.Tables = tables.Folder{
		Config: &db.Config, Log: o.Logger, ReadOnly: o.ReadOnly, Number: db.allocFile, ChooseLayout: o.ChooseLayout, MaxTableDocs: o.MaxTableDocs,
		Cache: o.SetCache,
	}
	if o.SetCache == nil {
		db.Tables.Cache = table.NewCache(o.Cache)
	}
	db.Small = view.NewSmallTables(cmp.Or(o.IndexMemory, min(mostSmall, o.Memory/smallShare)), db.beside, db.closed.Load)
	db.flushed.L = &db.mu
	db.flushC, db.logC = make(chan struct{}, 1), make(chan struct{}, 1)
	db.merges = merges.NewScheduler(db, o.MergeSlots, o.CompactionRate)
	db.stop = func() {}
	return db
}

// noLog is the value of logFirst without a log.
const noLog = math.MaxUint64

// The indexes of small tables need at most mostSmall bytes, and one smallShare-th of Options.Memory.
const (
	mostSmall  = 64 << 20
	smallShare = 16
)

// beside runs work on a version in another goroutine, which Close waits for. It returns false if
// Close has begun.
func (db *Store) beside(v *view.Version, work func()) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed.Load() {
		return false
	}
	v.Refs.Add(1)
	db.wg.Go(func() {
		defer db.unref(v)
		work()
	})
	return true
}

// Now returns the current time by the clock of the options.
func (db *Store) Now() time.Time {
	if db.opts.Now != nil {
		return db.opts.Now()
	}
	return time.Now()
}

// Writable returns the reason why the database cannot be written, or nil.
func (db *Store) Writable() error {
	switch {
	case db.closed.Load():
		return files.ErrClosed
	case db.opts.ReadOnly:
		return fmt.Errorf("%s: %w", db.Path, files.ErrReadOnly)
	}
	if err := db.failed.Load(); err != nil {
		return fmt.Errorf("%w: %w", files.ErrFailed, *err)
	}
	return nil
}

// takesWrites returns the reason why the database refuses new writes, or nil. Unlike Writable it
// also refuses them while Close waits for merges.
func (db *Store) takesWrites() error {
	err := db.Writable()
	if err == nil && db.merges.Closing() {
		err = files.ErrClosed
	}
	return err
}

// fail poisons the writer: the state of the files is no longer known, so nothing more is written
// until the database is opened again. Reading continues. It returns the error for the caller to
// return. If err is a full disk, which has changed nothing, fail returns it unchanged, and writing
// continues.
func (db *Store) fail(err error) error {
	if vfs.IsNoSpace(err) {
		return err
	}
	if db.failed.CompareAndSwap(nil, &err) {
		db.log.Error("write failed; the database accepts no more writes until it is reopened", "path", db.Path, "err", err)
		db.event(Event{Kind: EventError, Err: err})
	}
	db.mu.Lock()
	db.flushed.Broadcast()
	db.mu.Unlock()
	return fmt.Errorf("%w: %w", files.ErrFailed, err)
}

func (db *Store) event(e Event) {
	if db.opts.OnEvent != nil {
		db.opts.OnEvent(e)
	}
}

// stored holds all stored documents, as the writer sees them.
type stored struct {
	version *view.Version
	mems    []*view.Memtable // immutable ones, oldest first
	active  *view.Memtable
}

// storedLocked returns all stored documents. The caller holds writeMu, so that they stay the same
// until it is unlocked.
func (db *Store) storedLocked() stored { return stored{db.current, db.immutable, db.active} }

// locate finds the living document with this ID.
func (s *stored) locate(id []byte) (view.Place, bool, error) {
	if d := s.inMemory(id); d != nil {
		return view.Place{Mem: d}, true, nil
	}
	return s.version.Locate(id, view.Latest)
}

// inMemory finds the living document with this ID in the memtables; it returns nil if there is none.
func (s *stored) inMemory(id []byte) *view.MemDoc {
	if d := s.active.Find(id, view.Latest); d != nil {
		return d
	}
	for _, m := range slices.Backward(s.mems) {
		if d := m.Find(id, view.Latest); d != nil {
			return d
		}
	}
	return nil
}

// allocFile returns a number for a new file.
func (db *Store) allocFile() uint64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	if s := db.sharing; s != nil {
		return s.words[wordFile].Add(1) - 1
	}
	n := db.nextFile
	db.nextFile++
	return n
}

// NextSeq returns the sequence number of the next write. It is only valid while writeMu is held.
func (db *Store) NextSeq() uint64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.seq + 1
}

// install makes parts the current version. The caller holds publishMu, writeMu and mu.
func (db *Store) install(parts []view.Part) *view.Version {
	slices.SortFunc(parts, func(a, b view.Part) int {
		if a.Meta.Number > b.Meta.Number {
			return -1
		}
		return 1
	})
	old := db.current
	db.current = view.NewVersion(parts, db.Small)
	db.countAgain()
	return old
}

// countAgain counts the tables for the limits of writers. The caller holds mu.
func (db *Store) countAgain() {
	count, o := int32(0), db.policy()
	for i := range db.current.Parts {
		p := &db.current.Parts[i]
		if t := p.ForPolicy(); !t.Damaged && !o.Full(t) {
			count++
		}
	}
	db.tableCount.Store(count)
}

func (db *Store) immutables() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	return len(db.immutable)
}

// waitFlush waits until a memtable is flushed, or cannot be flushed any more. It returns the error
// of a full disk only if a flush that began after the call has failed with it.
func (db *Store) waitFlush(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		db.mu.Lock()
		db.flushed.Broadcast()
		db.mu.Unlock()
	})
	defer stop()
	db.mu.Lock()
	defer db.mu.Unlock()
	next := db.flushes.begun + 1
	db.wakeFlush()
	for n := len(db.immutable); len(db.immutable) >= n && n > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if db.flushes.failed >= next {
			return db.flushes.err
		}
		if db.failed.Load() != nil || db.merges.Closing() {
			return nil // the caller's next check returns the reason
		}
		db.flushed.Wait()
	}
	return nil
}
