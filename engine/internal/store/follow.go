package store

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
)

// A reader locks nothing. It reads the catalog, opens the tables that it lists and replays the logs
// into its own memtable, while another process may write all of these:
//
//   - The catalog changes last. If its last transaction is the same before and after everything was
//     read, then everything belongs together; otherwise the reader starts again.
//   - A missing file belongs to an older state of the catalog. A file that the reader has open
//     remains readable until it is closed, because a mapped file outlives its name.
//   - Logs only grow. A reader reads all whole frames, and these include every write that another
//     process has acknowledged.
//
// Refresh continues at the reader's position: it reads the new frames of the newest log. Only if
// the catalog has changed does it read everything again, except for tables that are open.

// readTries is how often to read a state that a writer changes meanwhile, and sameTries how often
// to retry an error while the catalog stays the same: a file may just have been renamed.
const (
	readTries = 100
	sameTries = 4
)

// readAll reads the current state of the database.
func (db *Store) readAll() error {
	for try, same := 0, 0; ; try++ {
		before, _ := catalog.Transaction(db.Dir, files.Catalog)
		err := db.readOnce()
		if err == nil {
			return nil
		}
		if now, e := catalog.Transaction(db.Dir, files.Catalog); e != nil || now == before {
			same++
		}
		if try == readTries || same == sameTries {
			return err
		}
		time.Sleep(time.Millisecond << min(same, 3))
	}
}

// readOnce reads the database. It fails if the database is written meanwhile.
func (db *Store) readOnce() error {
	s, txid, err := catalog.Read(db.Dir, files.Catalog)
	if err != nil {
		return err
	}
	open := map[uint64]*view.Table{}
	have := cmp.Or(db.current, db.resting)
	o := db.opts
	if have != nil {
		o.OnEvent = nil
		for _, p := range have.Parts {
			open[p.Meta.Number] = p.Table
		}
	}
	o.ReadOnly, o.SetCache = true, db.Tables.Cache
	fresh := newDB(db.Path, o)
	fresh.Dir, fresh.Small = db.Dir, db.Small
	if err = fresh.recover(s, open); err == nil {
		err = db.unchanged(txid)
	}
	if err == nil && have != nil && fresh.UUID != db.UUID {
		err = files.ErrNotDatabase
	}
	if err != nil {
		if fresh.current != nil {
			err = errors.Join(err, fresh.current.Unref())
		}
		return err
	}
	fresh.readTo.txid, fresh.readTo.flushed, fresh.readTo.firstLog = txid, s.FlushedSeq, s.FirstWAL
	db.adopt(fresh)
	return nil
}

// unchanged returns ErrMoved unless the last transaction of the catalog is still txid.
func (db *Store) unchanged(txid uint64) error {
	now, err := catalog.Transaction(db.Dir, files.Catalog)
	if err == nil && now != txid {
		err = catalog.ErrMoved
	}
	return err
}

// adopt gives db the state of another store.
func (db *Store) adopt(fresh *Store) {
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	old := cmp.Or(db.current, db.resting)
	if old == nil { // readers of these fields hold no lock, and the values never change
		db.UUID, db.Created = fresh.UUID, fresh.Created
		db.SetParams(fresh.Params)
		db.clock.opened, db.clock.origin = fresh.clock.opened, fresh.clock.origin
	}
	for _, m := range append(db.immutable, db.active) {
		m.Families.GiveBack()
		m.Sets.GiveBack()
	}
	db.SetTTL(fresh.TTL())
	db.youngLocked()
	db.current, db.resting, db.active, db.seq = fresh.current, nil, fresh.active, fresh.seq
	db.immutable, db.history = fresh.immutable, fresh.history
	db.tableCount.Store(fresh.tableCount.Load())
	db.flushed.Broadcast()
	db.marks, db.allowedSet, db.nextFile, db.readTo = fresh.marks, fresh.allowedSet, fresh.nextFile, fresh.readTo
	if old != nil {
		db.unref(old)
	}
}

// Refresh makes the writes of another process visible to new views of a read-only store. A store
// that is open for writing is always up to date.
func (db *Store) Refresh(ctx context.Context) error {
	db.readMu.Lock()
	defer db.readMu.Unlock()
	switch {
	case db.closed.Load():
		return files.ErrClosed
	case !db.opts.ReadOnly || db.Dir == nil: // or a single table
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return db.readNew()
}

// readOn reads the frames that were added to the logs. It fails if anything else has changed.
func (db *Store) readOn() error {
	if err := db.unchanged(db.readTo.txid); err != nil {
		return err
	}
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	seq, err := db.readLogs()
	if err == nil && seq > 0 {
		// A table that a load or a flush has published since is missing, and may precede some of
		// these writes.
		err = db.unchanged(db.readTo.txid)
	}
	if err == nil && seq > 0 {
		db.publishLocked(seq)
	}
	return err
}

// readLogs adds the new frames of the logs to the memtable, and returns the sequence number of the
// last write, or 0 if there is none. The caller holds writeMu.
func (db *Store) readLogs() (seq uint64, err error) {
	at := &db.readTo
	if at.log != 0 && !at.ended {
		if seq, err = db.readLog(at.log, true); err != nil || !at.ended {
			return seq, err
		}
	}
	names, err := db.Dir.List(".")
	if err != nil {
		return 0, err
	}
	logs := map[uint64]bool{}
	for _, name := range names {
		if n, ok := files.Number(name, ".wal"); ok && n > at.log && n >= at.firstLog {
			logs[n] = true
		}
	}
	numbers, err := wal.Framed(db.Dir, files.LogName, slices.Sorted(maps.Keys(logs)))
	if err != nil {
		return 0, err
	}
	for i, n := range numbers {
		last, err := db.readLog(n, i == len(numbers)-1)
		if err != nil {
			return 0, err
		}
		seq = max(seq, last)
	}
	return seq, nil
}

// readLog reads a log, the last one read or its successor, and returns the sequence number of the
// last write.
func (db *Store) readLog(number uint64, newest bool) (seq uint64, err error) {
	at := &db.readTo
	if number != at.log {
		db.nextLogLocked(number)
	}
	r := replay{db: db, flushed: at.flushed, name: files.LogName(number), firstLog: at.firstLog, before: at.log}
	o := wal.Options{Last: newest, Header: &wal.Header{Database: db.UUID, Number: number}}
	if number == at.log {
		info, err := db.Dir.Stat(r.name)
		if err != nil || info.Size == at.end {
			return 0, err
		}
		o.From = at.end
	}
	res, err := r.run(o)
	if err != nil {
		return 0, err
	}
	if number != at.log {
		at.first = r.first
	}
	at.first = cmp.Or(at.first, r.first)
	at.log, at.end, at.ended = number, res.End, res.Clean
	return r.seq, nil
}

// nextLogLocked adds a log to the active memtable, or to a new one if that is full, as it was for the
// process that wrote the logs. The caller holds writeMu.
func (db *Store) nextLogLocked(number uint64) {
	if db.opts.Shared && db.active.Bytes >= db.opts.MemtableBytes && db.immutables() < view.MaxImmutable {
		db.active.Publish()
		db.retireLocked()
	}
	db.active.Logs = append(db.active.Logs, number)
}
