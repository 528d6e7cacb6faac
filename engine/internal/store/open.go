package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// Create makes a new database at path and opens it. It returns ErrExists if path exists and is not
// an empty directory.
func Create(path string, o Options) (*Store, error) {
	return create(path, o.withDefaults(), false, nil)
}

// Build makes a new database at path and calls fill to fill it. The database appears when Build
// returns nil; until then Open finds nothing there, and after an error or a kill the next Create,
// Open or Build starts from nothing.
func Build(path string, o Options, fill func(*Store) error) error {
	db, err := create(path, o.withDefaults(), true, nil)
	if err != nil {
		return err
	}
	if err = fill(db); err == nil {
		err = db.Writable() // returns an error of background work
	}
	if err != nil {
		return errors.Join(err, db.Discard())
	}
	return db.Close()
}

// Assemble makes and opens a new database at path. fill writes the tables and logs into its folder,
// and returns the state of its catalog. The database appears when Close returns nil; Discard
// removes it.
func Assemble(path string, o Options, fill func(*files.Site) (catalog.State, error)) (*Store, error) {
	return create(path, o.withDefaults(), true, fill)
}

// NewParams returns the parameters of a new database with default options.
func NewParams() table.Params {
	p, _ := Options{}.params() // the defaults are valid
	return p
}

// Open opens the database at path. If path does not exist, it creates the database unless Options
// forbids that. Open also opens a single table file (.sst), read-only.
//
// Open recovers from a crash: it replays the log, cuts off its torn end, which was never
// acknowledged, and removes files that were being written. It rebuilds tables whose directories are
// damaged, if it may write. Any other damage is a *CorruptionError.
// If another process has the database open for writing, a second writer gets ErrLocked after
// BusyTimeout.
func Open(path string, o Options) (*Store, error) {
	opts := o.withDefaults()
	if o.Table != nil {
		return openSingle(path, opts)
	}
	what, err := files.Look(opts.FS, path)
	if err != nil {
		return nil, err
	}
	switch what {
	case files.Nothing:
		if opts.MustExist || opts.ReadOnly {
			return nil, fmt.Errorf("%s: no such database: %w", path, files.ErrNotFound)
		}
		db, err := create(path, opts, false, nil)
		if errors.Is(err, files.ErrExists) { // another process was faster
			return open(path, opts)
		}
		return db, err
	case files.Database:
		db, err := open(path, opts)
		if what, e := files.Look(opts.FS, path); errors.Is(err, fs.ErrNotExist) && e == nil && what == files.Nothing {
			return Open(path, o) // another process has created and removed it
		}
		return db, err
	case files.Table:
		return openSingle(path, opts)
	case files.Damaged:
		return nil, fmt.Errorf("%s holds tables or logs but no %s: %w", path, files.Catalog,
			base.Corruptf(files.Catalog, "file", -1, "missing"))
	}
	return nil, fmt.Errorf("%s: %w", path, files.ErrNotDatabase)
}

// create makes a new database. If fill is not nil, it makes the contents. If build is set, the
// database appears under its name only when it is closed. o has its defaults.
func create(path string, o Options, build bool, fill func(*files.Site) (catalog.State, error)) (*Store, error) {
	params, err := o.params()
	if err != nil {
		return nil, err
	}
	db := newDB(path, o)
	if fill == nil {
		fill = func(*files.Site) (catalog.State, error) { return db.newState(params) }
	}
	wait := o.BusyTimeout
	if o.Shared {
		wait = max(wait, createWait)
	}
	if db.site, err = files.Claim(o.FS, path, wait); err != nil {
		return nil, err
	}
	db.Dir, db.lock, db.building = db.site.Folder, db.site.Held, true
	if build {
		err = db.site.Begin()
	} else if o.Shared {
		if err = db.share(); err == nil {
			db.sharing.words[wordHolder].Store(pid) // others wait
		}
	}
	if err == nil {
		var s catalog.State
		if s, err = fill(db.site); err == nil {
			err = catalog.Begin(db.Dir, files.Catalog, s)
		}
	}
	if err == nil && !build {
		db.building = false
		err = catalog.Complete(db.Dir, files.Catalog)
	}
	if err == nil {
		err = db.openCatalog()
	}
	if s := db.sharing; s != nil && err == nil {
		s.lock, db.lock = db.lock, nil
		if _, err = s.join(); err == nil {
			db.writeMu.Lock()
			db.startTurnLocked()
			db.writeMu.Unlock()
		}
	}
	if err != nil {
		db.discard = true
		db.stopTurns()
		return nil, errors.Join(err, db.release())
	}
	db.start()
	return db, nil
}

// newState returns the catalog state of an empty database.
func (db *Store) newState(params table.Params) (catalog.State, error) {
	encoded, err := params.AppendDatabase(nil)
	if err != nil {
		return catalog.State{}, err
	}
	s := catalog.State{Created: db.Now(), Params: encoded, NextFile: 1, FirstWAL: 1, Options: map[string]string{}, History: new(catalog.History)}
	rand.Read(s.UUID[:])
	if db.opts.TTL > 0 {
		s.Options = db.timeOptions(db.opts.TTL)
	}
	return s, nil
}

// takeLock locks the folder against other writers, and waits for BusyTimeout.
func (db *Store) takeLock() (err error) {
	if db.lock, err = db.Dir.LockWithin(db.Path, db.opts.BusyTimeout); err == nil {
		err = db.excluded()
	}
	return err
}

// openShared opens an existing database together with other processes. The first one recovers it.
func (db *Store) openShared() error {
	if err := db.share(); err != nil {
		return err
	}
	s := db.sharing
	var err error
	if s.lock, err = s.acquire(context.Background(), db, max(db.opts.BusyTimeout, excludedWait)); err != nil {
		return err
	}
	alone, err := s.join()
	if err != nil {
		return err
	}
	if alone {
		if err = db.openCatalog(); err == nil {
			db.writeMu.Lock()
			db.startTurnLocked()
			db.writeMu.Unlock()
		}
		return err
	}
	s.seen.Store(s.words[wordChanges].Load())
	if err = db.readAll(); err == nil {
		err, s.lock = s.release(s.lock), nil
	}
	return err
}

// open opens an existing database; o has its defaults.
func open(path string, o Options) (*Store, error) {
	db := newDB(path, o)
	var err error
	if db.Dir, err = files.OpenFolder(o.FS, path); err != nil {
		return nil, err
	}
	switch {
	case o.ReadOnly:
		err = db.readAll()
	case o.Shared:
		err = db.openShared()
	default:
		if err = db.takeLock(); err == nil {
			err = db.openCatalog()
		}
	}
	if err == nil {
		err = o.check(db.Path, db.Params)
	}
	if err == nil {
		err = db.settleTimes()
	}
	if err != nil {
		db.stopTurns()
		return nil, errors.Join(err, db.release())
	}
	db.start()
	return db, nil
}

// start begins background work on an open database.
func (db *Store) start() {
	if db.opts.ReadOnly {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	db.stop, db.stopping = cancel, ctx.Done()
	if len(db.immutable) > 0 && db.immutable[0].Bytes <= merges.SmallWork { // left by a replay
		if err := db.flushAll(ctx); err != nil {
			db.fail(err)
		}
	}
	db.writeMu.Lock()
	db.ageLocked()
	db.writeMu.Unlock()
	db.startBackground(ctx)
	if db.immutables() > 0 {
		db.wakeFlush()
	}
	db.WakeCompact()
}

// openFile opens the table file that is a database.
func (db *Store) openFile(path string) (*table.Reader, error) {
	if t := db.opts.Table; t != nil {
		return table.OpenReaderAt(t, t.Size(), filepath.Base(path))
	}
	f, err := db.fs.Open(path)
	if err != nil {
		return nil, err
	}
	return table.OpenFile(f, filepath.Base(path))
}

// openSingle opens one table file as a read-only database.
func openSingle(path string, o Options) (*Store, error) {
	o.ReadOnly = true
	db := newDB(path, o)
	r, err := db.openFile(path)
	if err != nil {
		return nil, err
	}
	r.SetCache(db.Tables.Cache)
	db.SetParams(r.Params())
	if err := o.checkTable(path, db.Params); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	t := &view.Table{Meta: tables.Meta(0, r.Info()), Name: filepath.Base(path), Reader: r}
	pairs, err := backup.ReadAllowed(t)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	db.allowedSet = db.allowedSet.With(pairs)
	db.seq = t.Meta.MaxSeq
	db.mu.Lock()
	defer db.mu.Unlock()
	db.install([]view.Part{{Table: t, Dead: view.NewTombstones(nil)}})
	return db, nil
}

// Close ends background work and releases the files. Acknowledged writes are safe in the log and
// tables even if a database is never closed. Close waits for running writes; methods called
// afterwards return ErrClosed. Open snapshots stay readable. It first finishes merges, as
// Options.CloseWait says, and merges small tables that are due, so that short-lived processes
// compact too. A second call returns the result of the first.
func (db *Store) Close() error {
	db.closeOnce.Do(func() {
		db.stop()
		wait := cmp.Or(db.opts.CloseWait, defaultCloseWait)
		if db.discard {
			wait = -1
		}
		end := time.Now().Add(wait)
		db.finishMerges(wait)
		if db.compactC != nil && !db.opts.NoAutoCompaction && !db.discard {
			db.compactSmall(end)
		}
		last := db.leaveShared()
		db.mu.Lock()
		db.discard = db.discard && (db.building || db.seq == 0 && len(db.current.Parts) == 0) // others may have written
		db.closed.Store(true)                                                                 // under mu: no goroutine is added while wait waits (beside)
		db.flushed.Broadcast()
		db.mu.Unlock()
		db.background.wait()
		db.readMu.Lock()
		defer db.readMu.Unlock()
		db.writeMu.Lock()
		defer db.writeMu.Unlock()
		db.youngLocked()
		err := error(nil)
		if last {
			if err = db.closeLogsLocked(); err == nil {
				db.markClosed()
			}
		} else {
			db.discard = false
			if db.sharing.held.Load() {
				db.endTurnLocked()
			}
			err = db.leaveLogLocked()
		}
		db.discard = db.discard || err != nil && db.building
		db.closeErr = errors.Join(err, db.release())
	})
	return db.closeErr
}

// IsNew reports whether this Store created the database.
func (db *Store) IsNew() bool { return db.site != nil }

// Discard closes the database like Close. It also removes the database if this Store created it,
// and it is not complete yet or nothing was ever stored in it.
func (db *Store) Discard() error {
	db.mu.Lock()
	db.discard = db.building || db.site != nil && db.current != nil && db.seq == 0 && len(db.current.Parts) == 0
	db.mu.Unlock()
	return db.Close()
}

// markClosed records in the catalog where the newest log ended, so that the next Open notices if it
// is missing or shorter. The log must have ended before. A database without the mark is still
// complete, so a failure is not an error of Close.
func (db *Store) markClosed() {
	if db.Dir == nil || db.opts.ReadOnly || db.failed.Load() != nil || db.newestLog.Number == 0 {
		return
	}
	err := db.openForEdit()
	if err == nil {
		err = db.applyEdit(catalog.Edit{SetClosed: &db.newestLog})
	}
	if err != nil {
		db.log.Warn("recording in the catalog where the log ended", "path", db.Path, "err", err)
	}
}

// release closes everything that the database holds except its logs; parts that were never opened
// are skipped.
func (db *Store) release() error {
	db.background.wait()
	var errs []error
	db.mu.Lock()
	v := cmp.Or(db.current, db.resting)
	db.current, db.resting = nil, nil
	db.mu.Unlock()
	if v != nil {
		errs = append(errs, v.Unref())
	}
	if db.cat != nil {
		errs = append(errs, db.cat.Close())
	}
	if db.building && !db.discard {
		if errors.Join(errs...) == nil {
			errs = append(errs, catalog.Complete(db.Dir, files.Catalog))
		}
		db.discard = errors.Join(errs...) != nil // after an error there is no database
	}
	if db.discard {
		errs = append(errs, db.site.Abandon())
	}
	errs = append(errs, db.releaseShared())
	if db.lock != nil {
		errs = append(errs, db.lock.Close())
	}
	if db.Dir != nil {
		errs = append(errs, db.Dir.Release())
	}
	return errors.Join(errs...)
}
