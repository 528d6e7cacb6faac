package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/vfs"
)

// background is the background work of a DB: one goroutine flushes, one prepares and ends logs, one
// starts merges, and each merge runs in a goroutine of its own.
type background struct {
	wg       sync.WaitGroup
	logC     chan struct{} // capacity 1: there is a log to prepare or to end
	flushC   chan struct{} // capacity 1: there is a memtable to flush
	compactC chan struct{} // capacity 1: the set of tables has changed
}

func (b *background) wakeFlush() { wake(b.flushC) }

func (b *background) wait() { b.wg.Wait() }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake already, or the database has no background work
	}
}

// InBackground runs work in a goroutine that Close waits for: work must return once Stopping is
// closed.
func (db *Store) InBackground(work func()) { db.wg.Go(work) }

// Stopping returns a channel that is closed when Close begins.
func (db *Store) Stopping() <-chan struct{} { return db.stopping }

// startBackground starts the goroutines; they end when ctx does.
func (db *Store) startBackground(ctx context.Context) {
	db.compactC = make(chan struct{}, 1)
	db.wg.Go(func() { db.loop(ctx, db.flushC, db.flushAll) })
	db.wg.Go(func() { db.loop(ctx, db.logC, db.tendLogs) })
	if db.opts.ScrubRate > 0 {
		db.wg.Go(func() { db.scrub(ctx) })
	}
	if !db.opts.NoAutoCompaction {
		db.wg.Go(func() { db.loop(ctx, db.compactC, db.compactAuto) })
	}
}

// loop runs work whenever it is woken. If work fails, the database fails.
func (db *Store) loop(ctx context.Context, woken <-chan struct{}, work func(context.Context) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-woken:
		}
		if err := work(ctx); err != nil && ctx.Err() == nil && !vfs.IsNoSpace(err) {
			if db.failed.Load() == nil {
				db.fail(err)
			}
			return
		}
	}
}

// Flush writes all memtables to tables and returns when that is done.
func (db *Store) Flush(ctx context.Context) error {
	err := db.Writable()
	if err == nil {
		err = db.lockTurn(ctx)
	}
	if err == nil {
		if err = db.Writable(); err == nil && !db.active.Empty() {
			db.rotateLocked()
		}
		db.writeMu.Unlock()
	}
	for err == nil && db.immutables() > 0 {
		if err = db.takesWrites(); err == nil {
			err = db.waitFlush(ctx)
		}
	}
	return err
}

// flushes counts the flushes of a store.
type flushes struct {
	begun  uint64
	failed uint64 // number of the last flush that found no space, or whose memtable is in doubt; err is its error
	err    error
}

// flushAll flushes immutable memtables, oldest first, until all are flushed or there is no space
// for a table.
func (db *Store) flushAll(ctx context.Context) error {
	if db.immutables() == 0 {
		return nil
	}
	unpin, err := db.pin(ctx)
	if err != nil {
		db.log.Warn("a memtable waits for a turn to be flushed", "path", db.Path, "err", err)
		time.AfterFunc(flushAgain, db.wakeFlush)
		return nil
	}
	defer unpin()
	for {
		m := db.beginFlush()
		if m == nil || ctx.Err() != nil {
			return nil
		}
		err := db.flush(m)
		for tries := 0; db.shouldRetry(ctx, err, tries); tries++ {
			err = db.flush(m)
		}
		if vfs.IsNoSpace(err) || m.Cur.Doubt.Older != nil {
			db.flushLater(err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("flushing the memtable: %w", err)
		}
	}
}

// beginFlush counts a flush and returns the memtable to flush, or nil if there is none.
func (db *Store) beginFlush() *view.Memtable {
	db.mu.Lock()
	defer db.mu.Unlock()
	if len(db.immutable) == 0 {
		return nil
	}
	db.flushes.begun++
	return db.immutable[0]
}

// flushAgain is how long to wait after a flush that found no space before the next attempt, unless
// a writer waits for it.
const flushAgain = time.Second

// flushLater records that a flush found no space, or that its memtable is in doubt. The memtable
// and its log stay.
func (db *Store) flushLater(err error) {
	db.mu.Lock()
	first := db.flushes.failed+1 != db.flushes.begun
	db.flushes.failed, db.flushes.err = db.flushes.begun, fmt.Errorf("flushing the memtable: %w", err)
	db.flushed.Broadcast()
	db.mu.Unlock()
	if first { // of consecutive failures
		db.log.Error("a memtable can't be flushed; its log stays", "path", db.Path, "err", err)
		db.event(Event{Kind: EventError, Err: err})
	}
	time.AfterFunc(flushAgain, db.wakeFlush)
}

// flush writes m, the oldest immutable memtable, to a table, publishes it and removes its log.
func (db *Store) flush(m *view.Memtable) error {
	if err := m.Cur.Doubt.Older; err != nil {
		return err
	}
	if m.Log != nil { // tombstones of its writes are stored with the table
		if err := m.Log.End(); err != nil {
			return err
		}
	}
	start := time.Now()
	docs := living(m)
	var t *view.Table
	if len(docs) > 0 {
		var err error
		if t, err = db.Tables.WriteDocs(docs); err != nil {
			return err
		}
	}
	if err := db.publishFlush(m, t, docs); err != nil {
		return errors.Join(db.fail(err), db.Drop(t))
	}
	for _, number := range m.Logs {
		if err := db.Dir.RemoveUnused(files.LogName(number)); err != nil { // otherwise the next Open removes it
			db.log.Warn("removing a log that is no longer needed", "path", db.Path, "err", err)
		}
	}
	e := Event{Kind: EventFlush, Docs: len(docs), Duration: time.Since(start)}
	if t != nil {
		e.Tables, e.Bytes = []uint64{t.Meta.Number}, t.Meta.Size
		db.Counts.flushed(t.Meta.Size)
	}
	db.WakeCompact() // also without a table: the log may have prevented dropping documents
	db.event(e)
	return nil
}

// living returns the documents of an immutable memtable, in the order of a table. It includes
// documents that a write in a younger memtable has killed: that write is not durable in the catalog
// until its log is flushed too.
func living(m *view.Memtable) []*view.MemDoc {
	docs := make([]*view.MemDoc, 0, len(m.Cur.Docs))
	for _, d := range m.Cur.Docs {
		if d.AliveAt(m.MaxSeq) {
			docs = append(docs, d)
		}
	}
	tables.SortDocs(docs)
	return docs
}

// publishFlush replaces m by its table t, which is nil if no document of m lived.
func (db *Store) publishFlush(m *view.Memtable, t *view.Table, docs []*view.MemDoc) error {
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	db.mu.Lock()
	v := db.current
	db.mu.Unlock()

	edit := catalog.Edit{SetTombstones: map[uint64]*roaring.Bitmap{}, AddTombstones: map[uint64]*roaring.Bitmap{}}
	var parts []view.Part
	for _, p := range v.Parts {
		if dead, _ := p.Dead.Recent(m.MaxSeq); !dead.IsEmpty() {
			edit.AddTombstones[p.Meta.Number] = dead
		}
	}
	gone := roaring.New() // replaced by a load since docs was collected
	if t != nil {
		for i, d := range docs {
			if d.Gone.Load() {
				gone.Add(uint32(i))
			}
		}
		edit.AddTables = []catalog.Table{t.Meta}
		edit.SetTombstones[t.Meta.Number] = gone
	}
	edit.FlushedSeq, edit.Removed = &m.MaxSeq, m.Cur.Removed
	edit.FirstWAL = new(m.Logs[len(m.Logs)-1] + 1)
	if err := db.editCatalog(edit); err != nil {
		return err
	}

	db.writeMu.Lock() // prevents new tombstones from here on
	defer db.writeMu.Unlock()
	db.readTo.flushed, db.readTo.firstLog = m.MaxSeq, *edit.FirstWAL
	for _, p := range v.Parts {
		if dead := edit.AddTombstones[p.Meta.Number]; dead != nil {
			p.Dead = p.Dead.With(dead, m.MaxSeq)
		}
		parts = append(parts, p)
	}
	if t != nil {
		dead := view.NewTombstones(gone)
		for i, d := range docs {
			if s := d.Dead.Load(); s != 0 && !gone.Contains(uint32(i)) {
				dead.Kill(uint32(i), s)
			}
		}
		parts = append(parts, view.Part{Table: t, Dead: dead})
	}
	db.mu.Lock()
	old := db.install(parts)
	db.immutable[0].Families.GiveBack()
	db.immutable[0].Sets.GiveBack()
	db.immutable = slices.Clone(db.immutable[1:])
	db.flushed.Broadcast()
	db.mu.Unlock()
	db.unref(old)
	return nil
}

// unref releases a version that another one has replaced. An error in closing or removing files is
// not fatal: the next open for writing removes them.
func (db *Store) unref(old *view.Version) {
	if err := old.Unref(); err != nil {
		db.log.Warn("removing a table that is no longer needed", "path", db.Path, "err", err)
	}
}

// editCatalog commits an edit of the catalog, with the next file number, and gives the files of new
// tables their names. LastSeq prevents the numbers of a dropped table from being assigned again;
// smaller ones are in tables and logs, so that readers count from it, too. The time is for dropClock.
// The caller holds publishMu.
//
// A table is written under a temporary name. Until the catalog lists it, the next open may remove
// the file; after that the next open renames it, if this process cannot.
func (db *Store) editCatalog(e catalog.Edit) error {
	db.mu.Lock()
	e.NextFile, e.HistoryLimit = new(db.nextFileLocked()), db.historyLimit()
	for _, number := range e.DropTables {
		if p := db.current.Part(number); p != nil { // otherwise Open could not open it
			e.LastSeq = max(e.LastSeq, p.Meta.MaxSeq)
		}
	}
	if n := len(e.Removed); n > 0 {
		e.LastSeq = max(e.LastSeq, e.Removed[n-1].Seq)
	}
	db.mu.Unlock()
	if err := db.openForEdit(); err != nil {
		return err
	}
	if e.SetOptions == nil { // not the time to live: another process may have changed it
		e.SetOptions = map[string]string{catalog.OptionEdited: db.edited()}
	}
	if err := db.applyEdit(e); err != nil {
		return fmt.Errorf("updating the catalog: %w", err)
	}
	db.mu.Lock()
	db.history = db.cat.History()
	db.mu.Unlock()
	db.Tables.Name(e.AddTables)
	db.changed()
	return nil
}

// applyEdit changes the catalog, which is open, and counts the bytes: Metrics must not look at a
// catalog that the end of a turn closes.
func (db *Store) applyEdit(e catalog.Edit) error {
	before := db.cat.Written()
	err := db.cat.Apply(e)
	db.Counts.CatalogBytes.Add(db.cat.Written() - before)
	return err
}

// openForEdit opens the catalog, which the end of a turn closes.
func (db *Store) openForEdit() (err error) {
	if db.cat == nil {
		db.cat, _, err = catalog.Open(db.Dir, files.Catalog)
	}
	return err
}

// Drop closes a table that was not published (nil for none), and removes its file if the catalog is
// known not to list it. A table of the current version is not changed.
func (db *Store) Drop(t *view.Table) error {
	if t == nil {
		return nil
	}
	return t.Drop(db.failed.Load() == nil)
}

// rotateLocked makes the active memtable immutable. Its log ends later (tendLogs): until then no
// frame of the next log is written, so that only the newest log with frames can have a torn end.
// The caller holds writeMu.
func (db *Store) rotateLocked() {
	db.retireLocked()
	db.youngLocked()
	db.rotated = time.Now()
	db.wakeFlush()
	wake(db.logC)
}

// retireLocked makes the active memtable immutable.
func (db *Store) retireLocked() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.immutable = append(slices.Clone(db.immutable), db.active)
	db.active, db.logFirst = view.NewMemtable(db.Params), noLog
}

// ageLocked begins to count the age of the active memtable when it has its first write. Without a
// limit of the age, writes of long ago are replayed by each Open and each reader, and hold expired
// documents of loads in tables (isHeld). A limit of an hour costs little: a write a day makes
// a small table a day, which the policy merges with others, and a process that ends earlier leaves
// its log to the next one, which flushes MaxReplayedLogs logs together. The caller holds writeMu.
func (db *Store) ageLocked() {
	if db.aging == nil && !db.active.Empty() {
		old := db.active
		db.aging = time.AfterFunc(cmp.Or(db.opts.FlushAge, defaultFlushAge), func() { db.rotateOld(old) })
	}
}

// youngLocked ends what ageLocked began. The caller holds writeMu.
func (db *Store) youngLocked() {
	if db.aging != nil {
		db.aging.Stop()
		db.aging = nil
	}
}

// rotateOld makes a memtable immutable, so that it is flushed, if it is still active.
func (db *Store) rotateOld(m *view.Memtable) {
	if db.takesWrites() != nil || db.lockTurn(context.Background()) != nil {
		return
	}
	defer db.writeMu.Unlock()
	if db.active == m && db.takesWrites() == nil {
		db.rotateLocked()
	}
}
