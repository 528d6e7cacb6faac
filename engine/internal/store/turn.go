package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/vfs"
)

// lockTurn locks writeMu in a turn of this process.
func (db *Store) lockTurn(ctx context.Context) error {
	s := db.sharing
	for {
		db.writeMu.Lock()
		if s == nil {
			return nil
		}
		gave := false
		if s.held.Load() {
			if gave = s.mustGive() && db.endTurnLocked(); !gave {
				s.uses++
				return nil
			}
		}
		db.writeMu.Unlock()
		if gave {
			s.letOthers()
		}
		if err := db.beginTurn(ctx); err != nil {
			return err
		}
	}
}

// mustGive reports whether the turn must end because another process waits. The caller holds writeMu.
func (s *sharing) mustGive() bool {
	return s.pins == 0 && s.words[wordAsked].Load() != s.asked.Load() && time.Since(s.began) > turnTick
}

// letOthers waits until a process that waits has the turn.
func (s *sharing) letOthers() {
	for end := time.Now().Add(turnTick); s.words[wordWriter].Load() == s.id && time.Now().Before(end); {
		time.Sleep(turnTick / 20)
	}
}

// yield ends the turn if another process waits, before the caller waits for something else.
func (db *Store) yield() {
	s := db.sharing
	if s == nil || !s.held.Load() || s.words[wordAsked].Load() == s.asked.Load() {
		return
	}
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	if s.held.Load() && s.pins == 0 {
		db.endTurnLocked()
	}
}

// pin makes the turn last until unpin is called.
func (db *Store) pin(ctx context.Context) (unpin func(), err error) {
	s := db.sharing
	if s == nil {
		return func() {}, nil
	}
	if err := db.lockTurn(ctx); err != nil {
		return nil, err
	}
	s.pins++
	db.writeMu.Unlock()
	return func() {
		db.writeMu.Lock()
		s.pins--
		db.writeMu.Unlock()
	}, nil
}

// publishing locks publishMu, in a turn that lasts until the caller calls done.
func (db *Store) publishing(ctx context.Context) (done func(), err error) {
	db.publishMu.Lock()
	unpin, err := db.pin(ctx)
	if err != nil {
		db.publishMu.Unlock()
		return nil, err
	}
	return func() { unpin(); db.publishMu.Unlock() }, nil
}

// beginTurn waits for the turn and reads what other processes have written.
func (db *Store) beginTurn(ctx context.Context) error {
	s := db.sharing
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held.Load() {
		return nil
	}
	if err := db.Writable(); err != nil {
		return err
	}
	lock, err := s.acquire(ctx, db, max(db.opts.BusyTimeout, turnWait))
	if err != nil {
		return err
	}
	db.readMu.Lock()
	defer db.readMu.Unlock()
	if s.words[wordFailed].Load() != 0 {
		err = db.fail(errors.New("another process failed to write the log"))
	} else if s.died.Load() || s.words[wordWriter].Load() != s.id {
		s.seen.Store(s.words[wordChanges].Load())
		err = db.readNew()
	}
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	if err == nil && s.died.Load() {
		err = db.repairLogs()
	}
	if err == nil {
		err = db.attachLocked()
	}
	if err != nil {
		return errors.Join(err, s.release(lock))
	}
	s.lock = lock
	s.died.Store(false)
	db.startTurnLocked()
	return nil
}

// startTurnLocked marks the begin of a turn. The caller holds writeMu.
func (db *Store) startTurnLocked() {
	s := db.sharing
	s.words[wordWriter].Store(s.id)
	s.words[wordFull].Store(0)
	s.began, s.idle = time.Now(), s.uses
	s.asked.Store(s.words[wordAsked].Load())
	s.held.Store(true)
	db.mu.Lock()
	for n := s.words[wordFile].Load(); n < db.nextFile && !s.words[wordFile].CompareAndSwap(n, db.nextFile); {
		n = s.words[wordFile].Load()
	}
	if len(db.immutable) > 0 {
		db.wakeFlush()
	}
	db.mu.Unlock()
	time.AfterFunc(turnTick, db.tickTurn)
}

// attachLocked continues the newest log. The caller holds writeMu and has read all logs.
func (db *Store) attachLocked() error {
	at := &db.readTo
	db.mu.Lock()
	db.logFirst = noLog
	db.mu.Unlock()
	if w := db.newest; w != nil && (w.Number() != at.log || at.ended) {
		if err := w.Leave(); err != nil {
			db.log.Warn("closing a log that another process has ended", "path", db.Path, "err", err)
		}
		db.newest = nil
	}
	db.active.Log, db.last = nil, logPosition{}
	db.newestLog = catalog.LogEnd{Number: at.log, Size: at.end}
	if at.log == 0 || at.ended {
		return nil
	}
	name, header := files.LogName(at.log), wal.Header{Database: db.UUID, Number: at.log}
	info, err := db.Dir.Stat(name)
	if err != nil {
		return err
	}
	if info.Size > at.end { // a process has died while it wrote a frame
		at.end, err = wal.Cut(db.Dir, name, wal.Result{Version: wal.Version, Header: header, End: at.end, Torn: true})
		at.ended, db.newestLog.Size = true, at.end
		return err
	}
	if db.newest != nil {
		db.newest.Continue(at.end)
	} else if db.newest, err = wal.Attach(db.Dir, name, header, at.end); err != nil {
		return err
	} else {
		db.groupSyncs(db.newest)
	}
	db.active.Log, db.last = db.newest, logPosition{db.newest, at.end}
	db.mu.Lock()
	db.logFirst = cmp.Or(at.first, noLog)
	db.mu.Unlock()
	return nil
}

// groupSyncs lets processes share the fsyncs of a log.
func (db *Store) groupSyncs(w *wal.Writer) {
	if s := db.sharing; s != nil {
		w.Group = func(end int64, sync func() error) error { return s.syncGroup(db, w.Number(), end, sync) }
	}
}

// repairLogs prepares the folder for the next log after a process has died in its turn: the end of
// the newest log may not be durable, and logs without frames must not stay before those with frames.
func (db *Store) repairLogs() error {
	names, err := db.Dir.List(".")
	if newest := files.LogName(db.readTo.log); err == nil && db.readTo.ended && slices.Contains(names, newest) {
		err = vfs.SyncFile(db.Dir, newest)
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		n, ok := files.Number(name, ".wal")
		if !ok || n <= db.readTo.log {
			continue
		}
		if err := db.Dir.Remove(name); err != nil {
			return err
		}
	}
	return db.Dir.SyncDir(".")
}

// endTurnLocked ends the turn. It returns false if the log cannot be written because the disk is
// full: then the turn lasts. The caller holds writeMu, and there are no pins.
func (db *Store) endTurnLocked() bool {
	s := db.sharing
	if db.failed.Load() == nil {
		if err := db.leaveLogsLocked(); err != nil {
			if db.fail(err); db.failed.Load() == nil {
				s.words[wordFull].Store(1)
				return false
			}
		}
	} else {
		db.readTo.txid = 0 // makes Refresh read everything: own frames may be in the log or not
	}
	if db.cat != nil {
		if err := db.cat.Close(); err != nil {
			db.log.Warn("closing the catalog", "path", db.Path, "err", err)
		}
		db.cat = nil
	}
	s.words[wordFull].Store(0)
	s.held.Store(false)
	s.seen.Store(s.words[wordChanges].Add(1))
	if err := s.release(s.lock); err != nil {
		db.log.Warn("unlocking the database", "path", db.Path, "err", err)
	}
	s.lock = nil
	return true
}

// leaveLogsLocked writes all frames, and ends the logs of immutable memtables, so that another
// process can continue the newest log.
func (db *Store) leaveLogsLocked() error {
	if db.spare != nil {
		if err := db.spare.Discard(); err != nil {
			return fmt.Errorf("removing a log that was not needed: %w", err)
		}
		db.spare = nil
	}
	db.mu.Lock()
	full := db.immutable
	db.mu.Unlock()
	for _, m := range full {
		if m.Log != nil {
			if err := m.Log.End(); err != nil {
				return err
			}
		}
	}
	txid, err := catalog.Transaction(db.Dir, files.Catalog)
	if err != nil {
		return err
	}
	at := &db.readTo
	at.txid = txid
	if w := db.active.Log; w != nil {
		if at.log != w.Number() {
			at.first = db.logFirst
		}
		at.log, at.end, at.ended = w.Number(), w.Size(), false
		if err = w.Flush(at.end); err == nil {
			db.active.Log = nil
		}
		return err
	}
	if w := db.newest; w != nil { // rotated, and nothing was written since
		at.log, at.end, at.ended = w.Number(), w.Size(), true
	}
	return nil
}

// tickTurn ends a turn if nothing was written since the last tick, or another process waits.
func (db *Store) tickTurn() {
	s := db.sharing
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	if !s.held.Load() || db.closed.Load() {
		return
	}
	idle := s.pins == 0 && s.uses == s.idle
	s.idle = s.uses
	if (idle || s.mustGive()) && db.endTurnLocked() {
		return
	}
	time.AfterFunc(turnTick, db.tickTurn)
}

// follow reads what other processes have written since, for reads without the turn.
func (db *Store) follow() error {
	s := db.sharing
	if s == nil || s.held.Load() || s.words[wordChanges].Load() == s.seen.Load() {
		return nil
	}
	db.readMu.Lock()
	defer db.readMu.Unlock()
	now := s.words[wordChanges].Load()
	if s.held.Load() || now == s.seen.Load() || db.closed.Load() {
		return nil
	}
	err := db.readNew()
	if err == nil {
		s.seen.Store(now)
	}
	return err
}

// readNew reads the writes since the store has read the database. The caller holds readMu.
func (db *Store) readNew() error {
	if db.readOn() == nil {
		return nil
	}
	db.readTo.txid = 0 // some frames may be in the memtable already, and must not be read again
	return db.readAll()
}

// leaveShared prepares Close. It reports whether this process is the last one that shares the
// database: then it has the turn, and closes the database like one that is not shared.
func (db *Store) leaveShared() (last bool) {
	s := db.sharing
	if s == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	unpin, err := db.pin(ctx)
	if err == nil {
		if last, err = s.memory.Join(); !last {
			unpin()
		}
	}
	if err != nil {
		db.log.Warn("another process has to close the log", "path", db.Path, "err", err)
	}
	return last
}

// stopTurns prevents tickTurn from ending the turn.
func (db *Store) stopTurns() {
	if s := db.sharing; s != nil {
		db.writeMu.Lock()
		s.held.Store(false)
		db.writeMu.Unlock()
	}
}

// releaseShared releases all that a shared database has. Nobody may be using it.
func (db *Store) releaseShared() (err error) {
	s := db.sharing
	if s == nil {
		return nil
	}
	err = s.memory.Close()
	if s.merging != nil {
		err = errors.Join(err, s.merging.Close())
	}
	if s.lock != nil {
		err = errors.Join(err, s.release(s.lock))
	}
	return err
}
