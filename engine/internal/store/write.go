package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// Write carries out operations as one write and returns how many documents its deletes removed. If
// a need is not met, it carries out nothing, and the error is a *Conflict.
func (db *Store) Write(ctx context.Context, ops []Operation, needs ...Need) (deleted int, err error) {
	if len(ops)+len(needs) == 0 {
		return 0, nil
	}
	recs, err := db.prepare(ctx, ops)
	if err != nil {
		return 0, err
	}
	return db.writeRecords(ctx, recs, needs)
}

// writeRecords is Write for records that are prepared.
func (db *Store) writeRecords(ctx context.Context, recs []wal.Record, needs []Need) (deleted int, err error) {
	deleted, last, err := db.write(ctx, recs, needs)
	for tries := 0; db.shouldRetry(ctx, err, tries); tries++ {
		deleted, last, err = db.write(ctx, recs, needs)
	}
	if _, conflict := errors.AsType[*files.Conflict](err); err != nil && !conflict {
		return 0, err
	}
	// If a delete found nothing to remove, or a need was not met, this waits until the write that
	// caused it is safe.
	return deleted, cmp.Or(db.waitSafe(last), err)
}

// write makes records visible and returns the log position that must become safe. If the disk is
// full, nothing changes.
func (db *Store) write(ctx context.Context, recs []wal.Record, needs []Need) (deleted int, last logPosition, err error) {
	l := db.newLookup(recs, needs)
	defer l.release()
	if err := l.run(); err != nil {
		return 0, last, err
	}
	l.payload = wal.Encode(l.payload, recs)
	if err := db.lockSettled(ctx, l); err != nil {
		return 0, last, err
	}
	defer db.writeMu.Unlock()
	if err := l.checkLocked(); err != nil {
		return 0, db.last, err
	}
	deleted, err = l.effectiveLocked()
	if err == nil && len(l.recs) > 0 {
		err = db.commitLocked(l)
	}
	return deleted, db.last, err
}

// lockSettled is lockForWrite, and settles a lookup. If the version has changed meanwhile, it first
// looks the IDs up again without the lock, once.
func (db *Store) lockSettled(ctx context.Context, l *lookup) error {
	err := db.lockForWrite(ctx)
	if err == nil && db.current != l.version {
		db.writeMu.Unlock()
		if err = l.run(); err == nil {
			err = db.lockForWrite(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err = l.settleLocked(); err != nil {
		db.writeMu.Unlock()
	}
	return err
}

// commitLocked puts the batch into the log and the memtable and makes it visible; it sets db.last
// to its position. Nothing changes if there is no space for the log, or the batch is too large for it.
// The caller holds writeMu, and has settled the lookup: a damaged table prevents looking up an ID, so
// that a record in the log would fail in the same way at each replay.
func (db *Store) commitLocked(l *lookup) error {
	l.encodeLocked()
	if n := len(l.payload); n > wal.MaxPayload {
		return fmt.Errorf("a batch of %d bytes; the limit is %d: %w", n, wal.MaxPayload, files.ErrTooLarge)
	}
	if err := db.startLogLocked(); err != nil {
		return err
	}
	first := db.seq + 1
	wal.SetFirst(l.payload, first)
	end, err := db.active.Log.Append(l.payload)
	if err != nil {
		return db.failLog(err)
	}
	db.last = logPosition{db.active.Log, end}
	for i := range l.recs {
		r, old := &l.recs[i], l.found[i]
		r.Doc.Seq = first + uint64(i)
		if i > 0 { // an earlier record of the batch may have written the ID
			if d := db.active.Find(r.Doc.ID, view.Latest); d != nil {
				old = view.Place{Mem: d}
			}
		}
		db.insertLocked(old, r)
	}
	db.publishLocked(first + uint64(len(l.recs)) - 1)
	db.ageLocked()
	if db.spare == nil && db.active.Bytes >= db.opts.MemtableBytes/2 {
		db.spare = db.newLogLocked()
		wake(db.logC)
	}
	db.Counts.wrote(l.recs, len(l.payload))
	return nil
}

// insertLocked adds one record to the memtable, and marks the version that it replaces dead.
func (db *Store) insertLocked(old view.Place, r *wal.Record) {
	if old != (view.Place{}) {
		old.Kill(r.Doc.Seq)
	}
	if r.Delete {
		db.active.Delete(&r.Doc)
	} else {
		db.active.Add(&r.Doc)
	}
	db.active.Wrote(r.Doc.Seq)
}

// publishLocked makes everything up to seq visible to new snapshots.
func (db *Store) publishLocked(seq uint64) {
	db.mu.Lock()
	db.active.Publish()
	db.seq = seq
	db.mu.Unlock()
}

// waitSafe waits until the log up to p is as safe as the options ask. If the disk is full, the
// writes are visible, and stay in memory until the log can be written.
func (db *Store) waitSafe(p logPosition) error {
	if p.log == nil { // nothing was written since the database was opened
		return nil
	}
	wait := p.log.Flush
	if !db.opts.NoSync {
		wait = p.log.Sync
		db.yield()
	}
	err := wait(p.end)
	for tries := 0; db.shouldRetry(context.Background(), err, tries); tries++ {
		err = wait(p.end)
	}
	if err != nil {
		return db.failLog(err)
	}
	db.changed()
	return nil
}

// failLog is fail for the log. No other process may go on writing it: the system may have lost what
// it could not write.
func (db *Store) failLog(err error) error {
	if s := db.sharing; s != nil && !vfs.IsNoSpace(err) {
		s.words[wordFailed].Store(1)
	}
	return db.fail(fmt.Errorf("writing the log: %w", err))
}

// syncLog makes every write so far safe.
func (db *Store) syncLog() error {
	db.writeMu.Lock()
	last := db.last
	db.writeMu.Unlock()
	return last.sync()
}

// lockForWrite locks writeMu with space in the active memtable: it rotates a full memtable, and
// waits while too many memtables wait for their flush, or there are too many tables.
func (db *Store) lockForWrite(ctx context.Context) error {
	for slowed := false; ; {
		if err := db.takesWrites(); err != nil {
			return err
		}
		if err := db.lockTurn(ctx); err != nil {
			return err
		}
		err := db.takesWrites()
		if lag := db.lagLocked(); err == nil && !slowed && lag > shortestLag {
			db.writeMu.Unlock()
			slowed = true
			if err := db.slow(ctx, lag); err != nil {
				return err
			}
			continue
		}
		if err == nil && (db.active.Bytes >= db.opts.MemtableBytes || int64(len(db.active.Cur.Docs)) >= db.Tables.MaxDocs()) {
			if db.immutables() >= view.MaxImmutable {
				db.writeMu.Unlock() // a flush needs writeMu
				start := time.Now()
				err := db.waitFlush(ctx)
				db.stalled(StallMemtables, start)
				if err != nil {
					return err
				}
				continue
			}
			if db.tooManyTables() {
				db.writeMu.Unlock() // a merge needs writeMu
				if err := db.waitTables(ctx); err != nil {
					return err
				}
				continue
			}
			db.rotateLocked()
		}
		if err != nil {
			db.writeMu.Unlock()
		}
		return err
	}
}

// A MatchFunc reports whether a visible document prevents storing document i. If not, it returns
// the place of the document that document i replaces, or a zero place if there is none.
type MatchFunc func(i int, v *view.View, d *table.Document) (old view.Place, found bool, err error)

// PutEachUnless stores each of n documents unless match finds a visible document that prevents it.
// A check and its write are one step: no other write comes between. PutEachUnless waits once until
// everything is safe, including the matches: a match must not be lost after its near-duplicate was
// rejected. It returns the number of decided documents: fewer than n after an error, and then these
// are safe too, if the log can be written.
func (db *Store) PutEachUnless(ctx context.Context, n int, doc func(i int) view.Doc, match MatchFunc) (decided int, err error) {
	var last logPosition
	for ; decided < n && err == nil; decided++ {
		var at logPosition
		at, err = db.putUnless(ctx, doc(decided), decided, match)
		if err != nil {
			break
		}
		last = at
	}
	if failure := db.waitSafe(last); failure != nil {
		return 0, errors.Join(err, failure)
	}
	return decided, err
}

// putUnless does the work of PutEachUnless for one document, and returns the log position that must
// become safe.
func (db *Store) putUnless(ctx context.Context, d view.Doc, i int, match MatchFunc) (last logPosition, err error) {
	recs, err := db.prepare(ctx, []Operation{Put(d)})
	if err != nil {
		return last, err
	}
	last, err = db.writeUnless(ctx, recs, i, match)
	for tries := 0; db.shouldRetry(ctx, err, tries); tries++ {
		last, err = db.writeUnless(ctx, recs, i, match)
	}
	return last, err
}

// writeUnless makes a record visible, as write does, unless match finds a document.
func (db *Store) writeUnless(ctx context.Context, recs []wal.Record, i int, match MatchFunc) (last logPosition, err error) {
	if err := db.lockForWrite(ctx); err != nil {
		return last, err
	}
	defer db.writeMu.Unlock()
	old, found, err := db.matchLocked(i, &recs[0].Doc, match)
	if err != nil || found {
		return db.last, err
	}
	l := db.newLookup(recs, nil)
	defer l.release()
	l.found[0] = old
	have := db.storedLocked()
	for i := 1; i < len(recs) && err == nil; i++ {
		l.found[i], _, err = have.locate(recs[i].Doc.ID)
	}
	if err == nil {
		err = db.commitLocked(l)
	}
	return db.last, err
}

// matchLocked calls match with a view of the current state of the database. The caller holds
// writeMu.
func (db *Store) matchLocked(i int, d *table.Document, match MatchFunc) (old view.Place, found bool, err error) {
	v := &db.writerView
	if err := db.TakeView(v); err != nil {
		return old, false, err
	}
	defer v.Forget()
	defer v.Close()
	return match(i, v, d)
}
