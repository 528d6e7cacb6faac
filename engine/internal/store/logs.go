package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/wal"
)

// Logs are made and ended without writeMu. When the active memtable is half full, its successor's
// log becomes the spare, and tendLogs makes the file; a database that is opened for a few writes
// never has a spare. Rotating only exchanges pointers. tendLogs then ends the old log. If a write
// in the new log has to be safe before that, its goroutine helps (wal.New).
//
// The folder may therefore have one log, or two, without frames after the newest log with frames,
// which may lack its end. Recovery removes them, and readers ignore them (wal.Framed).

// A logPosition is the end of a write in the log's buffer. The write may be acknowledged once the
// log is safe up to this position.
type logPosition struct {
	log *wal.Writer // nil before the first write since the database was opened
	end int64
}

// sync makes everything up to the position safe.
func (p logPosition) sync() error {
	if p.log == nil {
		return nil
	}
	return p.log.Sync(p.end)
}

// newLogLocked returns the Writer of a log that follows the newest one. The caller holds writeMu.
func (db *Store) newLogLocked() *wal.Writer {
	number := db.allocFile()
	w := wal.New(db.Dir, files.LogName(number), wal.Header{Database: db.UUID, Number: number}, db.newest)
	db.groupSyncs(w)
	return w
}

// startLogLocked gives the active memtable a log if it has none. Reading a database starts no log.
// The caller holds writeMu.
func (db *Store) startLogLocked() error {
	if db.active.Log != nil {
		return nil
	}
	w := db.spare
	if w == nil {
		w = db.newLogLocked()
	}
	if _, err := w.Append(wal.EncodeStart(db.newestLog.Number)); err != nil {
		return db.fail(fmt.Errorf("starting a log: %w", err))
	}
	db.mu.Lock()
	db.logFirst = db.seq + 1
	db.mu.Unlock()
	db.spare, db.newest = nil, w
	db.active.Log, db.active.Logs = w, append(db.active.Logs, w.Number())
	db.newestLog = catalog.LogEnd{Number: w.Number()}
	return nil
}

// tendLogs makes the file of the spare log, and ends the logs of immutable memtables. If there is no
// space, those who need the log try again.
func (db *Store) tendLogs(context.Context) error {
	db.writeMu.Lock()
	spare := db.spare
	db.writeMu.Unlock()
	db.mu.Lock()
	full := db.immutable
	db.mu.Unlock()
	for _, m := range full {
		if m.Log != nil {
			if err := m.Log.End(); err != nil {
				return fmt.Errorf("writing the log: %w", err)
			}
		}
	}
	if spare != nil {
		return spare.Prepare()
	}
	return nil
}

// closeLogsLocked ends all logs. The caller holds writeMu.
func (db *Store) closeLogsLocked() error {
	if db.spare != nil {
		if err := db.spare.Discard(); err != nil { // the next open for writing removes it
			db.log.Warn("removing a log that was not needed", "path", db.Path, "err", err)
		}
	}
	for _, m := range db.immutable {
		if m.Log != nil {
			m.Log.Close() // if it fails, so does the newest
		}
	}
	if db.newest == nil {
		return nil
	}
	err := db.newest.Close()
	db.newestLog.Size = db.newest.Size()
	return err
}

// leaveLogLocked closes the newest log for another process to continue. The caller holds writeMu.
func (db *Store) leaveLogLocked() error {
	if db.newest == nil || db.failed.Load() != nil {
		return nil
	}
	err := logPosition{db.newest, db.newest.Size()}.sync() // for writes that still wait
	return errors.Join(err, db.newest.Leave())
}
