package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// background is the work that a DB does on its own: one goroutine flushes, one starts merges, each
// of which is another.
type background struct {
	wg       sync.WaitGroup
	flushC   chan struct{} // capacity 1: something to flush
	compactC chan struct{} // capacity 1: the tables changed
}

func (b *background) wakeFlush() { wake(b.flushC) }

func (b *background) wait() { b.wg.Wait() }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake already, or the database has no background work
	}
}

// InBackground runs work in a goroutine that Close waits for: it must end once Stopping does.
func (db *Store) InBackground(work func()) { db.wg.Go(work) }

// Stopping returns a channel that is closed when Close begins.
func (db *Store) Stopping() <-chan struct{} { return db.stopping }

// startBackground starts the goroutines; they end when ctx does.
func (db *Store) startBackground(ctx context.Context) {
	db.compactC = make(chan struct{}, 1)
	db.wg.Go(func() { db.loop(ctx, db.flushC, db.flushAll) })
	if !db.opts.NoAutoCompaction {
		db.wg.Go(func() { db.loop(ctx, db.compactC, db.compactAuto) })
	}
}

// loop runs work whenever it is woken. A failure of work is the database's.
func (db *Store) loop(ctx context.Context, woken <-chan struct{}, work func(context.Context) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-woken:
		}
		if err := work(ctx); err != nil && ctx.Err() == nil && !vfs.IsNoRoom(err) {
			if db.failed.Load() == nil {
				db.fail(err)
			}
			return
		}
	}
}

// Flush writes everything that is in memtables to tables and returns when that is done.
func (db *Store) Flush(ctx context.Context) error {
	db.writeMu.Lock()
	err := db.Writable()
	if err == nil && !db.active.Empty() {
		err = db.rotateLocked()
	}
	db.writeMu.Unlock()
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
	failed uint64 // the last that found no room, with its error
	err    error
}

// flushAll flushes immutable memtables, oldest first, until there is none, or no room for a table.
func (db *Store) flushAll(ctx context.Context) error {
	for {
		m := db.beginFlush()
		if m == nil || ctx.Err() != nil {
			return nil
		}
		err := db.flush(m)
		for tries := 0; db.again(ctx, err, tries); tries++ {
			err = db.flush(m)
		}
		if vfs.IsNoRoom(err) {
			db.flushLater(err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("flushing the memtable: %w", err)
		}
	}
}

// beginFlush counts a flush and returns the memtable that it is of, nil if there is none.
func (db *Store) beginFlush() *view.Memtable {
	db.mu.Lock()
	defer db.mu.Unlock()
	if len(db.immutable) == 0 {
		return nil
	}
	db.flushes.begun++
	return db.immutable[0]
}

// flushAgain is how long after a flush that found no room the next is tried, unless a writer waits
// for it.
const flushAgain = time.Second

// flushLater notes that a flush found no room. Its memtable stays, and so does its log.
func (db *Store) flushLater(err error) {
	db.mu.Lock()
	first := db.flushes.failed+1 != db.flushes.begun
	db.flushes.failed, db.flushes.err = db.flushes.begun, fmt.Errorf("flushing the memtable: %w", err)
	db.flushed.Broadcast()
	db.mu.Unlock()
	if first { // of a row of them
		db.log.Error("no room for a table; the log is kept", "path", db.Path, "err", err)
		db.event(Event{Kind: EventError, Err: err})
	}
	time.AfterFunc(flushAgain, db.wakeFlush)
}

// flush writes m, the oldest immutable memtable, to a table, publishes it and removes its log.
func (db *Store) flush(m *view.Memtable) error {
	start := time.Now()
	docs := living(m)
	var t *view.Table
	if len(docs) > 0 {
		var err error
		if t, err = db.writeDocs(docs); err != nil {
			return err
		}
	}
	if err := db.publishFlush(m, t, docs); err != nil {
		return errors.Join(err, discard(t, err))
	}
	for _, number := range m.Logs {
		if err := db.Dir.RemoveUnused(files.LogName(number)); err != nil { // the next Open removes it
			db.log.Warn("removing a log that is no longer needed", "path", db.Path, "err", err)
		}
	}
	e := Event{Kind: EventFlush, Docs: len(docs), Duration: time.Since(start)}
	if t != nil {
		e.Tables, e.Bytes = []uint64{t.Meta.Number}, t.Meta.Size
		db.metrics.flushed(t.Meta.Size)
		db.WakeCompact()
	}
	db.event(e)
	return nil
}

// living returns the documents of a memtable that is no longer written to, in the order of a table.
// What a write in a younger memtable has killed is among them: until its log is flushed too, that
// write is not durable in the catalog.
func living(m *view.Memtable) []*view.MemDoc {
	docs := make([]*view.MemDoc, 0, len(m.Cur.Docs))
	for _, d := range m.Cur.Docs {
		if d.AliveAt(m.MaxSeq) {
			docs = append(docs, d)
		}
	}
	sortDocs(docs)
	return docs
}

// sortDocs brings documents into the order of a table: those of equal fingerprint stay in order,
// and those without one come last.
func sortDocs(docs []*view.MemDoc) {
	var bare []*view.MemDoc
	byFP := radix.Pairs{Keys: make([]uint64, 0, len(docs)), Vals: make([]uint32, 0, len(docs))}
	for i, d := range docs {
		if d.HasFingerprint {
			byFP.Keys, byFP.Vals = append(byFP.Keys, d.Fingerprint), append(byFP.Vals, uint32(i))
		} else {
			bare = append(bare, d)
		}
	}
	n := len(byFP.Keys)
	byFP = radix.SortPairs(byFP, radix.Pairs{Keys: make([]uint64, n), Vals: make([]uint32, n)})
	unsorted := slices.Clone(docs)
	for i, at := range byFP.Vals {
		docs[i] = unsorted[at]
	}
	copy(docs[n:], bare)
}

// memOptions are the options for writing a table of a memtable's documents.
func memOptions(docs []*view.MemDoc) sstable.WriterOptions {
	return sstable.WriterOptions{
		Docs: len(docs),
		Hot:  sstable.HotHashes(len(docs), func(i int) []uint32 { return docs[i].Sketch }),
	}
}

// writeDocs writes a new table of documents in the order of a table, as WriteTable does.
func (db *Store) writeDocs(docs []*view.MemDoc) (*view.Table, error) {
	return db.WriteTable(memOptions(docs), func(w *sstable.Writer) error { return addDocs(w, docs) })
}

func addDocs(w *sstable.Writer, docs []*view.MemDoc) error {
	for _, d := range docs {
		if err := w.Add(&d.Document); err != nil {
			return err
		}
	}
	return nil
}

// publishFlush makes the table of m (nil if nothing in it lived) part of the database in m's place.
func (db *Store) publishFlush(m *view.Memtable, t *view.Table, docs []*view.MemDoc) error {
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	db.mu.Lock()
	v := db.current
	db.mu.Unlock()

	edit := catalog.Edit{SetTombstones: map[uint64]*roaring.Bitmap{}}
	var parts []view.Part
	for _, p := range v.Parts {
		if dead, _ := p.Dead.UpTo(m.MaxSeq); dead != p.Dead.Base {
			edit.SetTombstones[p.Meta.Number] = dead
		}
	}
	gone := roaring.New() // a load has replaced these since they were picked
	if t != nil {
		for i, d := range docs {
			if d.Gone.Load() {
				gone.Add(uint32(i))
			}
		}
		edit.AddTables = []catalog.Table{t.Meta}
		edit.SetTombstones[t.Meta.Number] = gone
	}
	edit.FlushedSeq = &m.MaxSeq
	edit.FirstWAL = new(m.Logs[len(m.Logs)-1] + 1)
	if err := db.editCatalog(edit); err != nil {
		return err
	}

	db.writeMu.Lock() // no tombstone comes from here on
	defer db.writeMu.Unlock()
	for _, p := range v.Parts {
		if dead := edit.SetTombstones[p.Meta.Number]; dead != nil {
			p.Dead = p.Dead.Onto(dead, m.MaxSeq)
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
	db.immutable = slices.Clone(db.immutable[1:])
	db.flushed.Broadcast()
	db.mu.Unlock()
	return old.Unref()
}

// editCatalog commits an edit of the catalog, with the next file number, and gives the files of new
// tables their names. The caller holds publishMu.
//
// A table is written under a temporary name. Until the catalog lists it, the next open may remove
// the file; from then on the next open renames it, if this process can't.
func (db *Store) editCatalog(e catalog.Edit) error {
	db.mu.Lock()
	e.NextFile = new(db.nextFile)
	db.mu.Unlock()
	if err := db.cat.Apply(e); err != nil {
		return fmt.Errorf("updating the catalog: %w", err)
	}
	db.nameTables(e.AddTables)
	return nil
}

// nameTables gives the files of tables that the catalog lists their names.
func (db *Store) nameTables(tables []catalog.Table) {
	for _, t := range tables {
		if err := db.Dir.Rename(files.NewTableName(t.Number), files.TableName(t.Number)); err != nil {
			db.log.Warn("giving a table its name", "path", db.Path, "err", err)
		}
	}
}

// WriteTable writes a new table file with what fill adds to it and opens it. Nothing refers to it
// yet; on an error it is removed.
func (db *Store) WriteTable(o sstable.WriterOptions, fill func(*sstable.Writer) error) (*view.Table, error) {
	return db.newTable(func(out io.Writer, identity sstable.Identity) (sstable.Info, error) {
		o.Identity = identity
		w, err := sstable.NewWriter(out, db.tableParams(o.Docs), o)
		if err == nil {
			err = fill(w)
		}
		if err != nil {
			return sstable.Info{}, err
		}
		return w.Close()
	})
}

// WriteBatch writes a new table file and opens it: fill adds records to it, and returns the other
// documents. Nothing refers to the table yet; on an error, and if no document is kept, it is
// removed, and in the latter case nil.
func (db *Store) WriteBatch(ctx context.Context, o sstable.BatchOptions, fill func(*sstable.BatchWriter) (*sstable.Batch, error)) (*view.Table, error) {
	t, err := db.newTable(func(out io.Writer, identity sstable.Identity) (sstable.Info, error) {
		o.Identity = identity
		o.Layout = func(n int64) sstable.Layout { return db.tableParams(int(n)).Layout }
		w, err := sstable.NewBatchWriter(ctx, out, db.Params, o)
		if err != nil {
			return sstable.Info{}, err
		}
		defer w.Close()
		b, err := fill(w)
		if err == nil && b.Len() == 0 {
			err = errNoDocuments
		}
		if err != nil {
			return sstable.Info{}, err
		}
		return w.Write(b)
	})
	if errors.Is(err, errNoDocuments) {
		return nil, nil
	}
	return t, err
}

var errNoDocuments = errors.New("no documents")

// newTable creates a table file, which write writes, and opens it. Nothing refers to it yet; on an
// error it is removed. On a full disk that is a *vfs.NoRoomError.
func (db *Store) newTable(write func(io.Writer, sstable.Identity) (sstable.Info, error)) (*view.Table, error) {
	number := db.allocFile()
	identity := sstable.Identity{Database: db.uuid, Number: number, Created: time.Now().UnixMicro()}
	info, err := writeTableFile(db.Dir, files.NewTableName(number), func(out io.Writer) (sstable.Info, error) { return write(out, identity) })
	if err == nil {
		err = db.Dir.SyncDir(".")
	}
	var t *view.Table
	if err == nil {
		t, err = db.openTable(TableMeta(number, info), files.NewTableName(number))
	}
	if err != nil {
		full := vfs.IsFull(err)
		err = errors.Join(err, files.RemoveIfThere(db.Dir, files.NewTableName(number)))
		if full {
			err = &vfs.NoRoomError{Err: err}
		}
		return nil, err
	}
	return t, nil
}

// writeSize is how many bytes of a table are written at once. Written whole, two aligned megabytes
// are one large page of the cache on kernels that have those, which is how a table that was just
// written, too, is mapped with them.
const writeSize = 2 << 20

// writeBuffers keeps buffers of that size: most tables of a busy database are smaller.
var writeBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeSize) }}

// earlyBytes is how much of a table is written to the file system before storage is asked to take
// it: the sync at the end of one of gigabytes would take a second, while nothing else goes on.
const earlyBytes = 32 << 20

// earlyWriter writes a file, and has it written to storage meanwhile.
type earlyWriter struct {
	vfs.File
	early    vfs.EarlyWriter
	off, due int64 // bytes written, and of those, begun to be stored
}

// storedEarly returns f as a writer, whose bytes begin to be stored before it is synced if the
// system can do that.
func storedEarly(f vfs.File) io.Writer {
	if early, ok := f.(vfs.EarlyWriter); ok {
		return &earlyWriter{File: f, early: early}
	}
	return f
}

func (w *earlyWriter) Write(p []byte) (n int, err error) {
	n, err = w.File.Write(p)
	if w.off += int64(n); w.off-w.due >= earlyBytes {
		w.early.WriteEarly(w.due, w.off)
		w.due = w.off
	}
	return n, err
}

// writeTableFile makes a file at path, which write writes, and makes it safe, all but its directory
// entry.
func writeTableFile(fs vfs.FS, path string, write func(io.Writer) (sstable.Info, error)) (sstable.Info, error) {
	f, err := fs.Create(path)
	if err != nil {
		return sstable.Info{}, err
	}
	buf := writeBuffers.Get().(*bufio.Writer)
	buf.Reset(storedEarly(f))
	defer func() {
		buf.Reset(nil)
		writeBuffers.Put(buf)
	}()
	info, err := write(buf)
	if err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return info, err
}

// discard closes a table that was not published because of err. Its file is left to the next Open,
// since the catalog may or may not list it; after a lack of room it does not, and the file is
// removed.
func discard(t *view.Table, err error) error {
	if t == nil {
		return nil
	}
	return t.Drop(vfs.IsNoRoom(err))
}

// Drop closes a table that was not published (nil for none), and removes its file if the catalog is
// known not to list it.
func (db *Store) Drop(t *view.Table) error {
	if t == nil {
		return nil
	}
	return t.Drop(db.failed.Load() == nil)
}

// TableMeta returns the catalog's entry for a table that was just written.
func TableMeta(number uint64, info sstable.Info) catalog.Table {
	return catalog.Table{
		Number: number, Size: info.Size, Docs: info.Docs, Fingerprints: info.Fingerprints, Digest: info.Checksum,
		MinTime: info.MinTime, MaxTime: info.MaxTime, MinSeq: info.MinSeq, MaxSeq: info.MaxSeq,
	}
}

// rotateLocked makes the active memtable immutable. Its log is ended and made safe first, so that
// only the newest log of a database can have a torn tail. If there is no room for that, nothing has
// changed. The caller holds writeMu.
func (db *Store) rotateLocked() error {
	if w := db.active.Log; w != nil {
		err := w.Finish()
		if !vfs.IsNoRoom(err) {
			err = errors.Join(err, w.Close())
		}
		if err != nil {
			return db.fail(fmt.Errorf("writing the log: %w", err))
		}
		db.newestLog.Size = w.Size()
	}
	db.mu.Lock()
	db.immutable = append(slices.Clone(db.immutable), db.active)
	db.active = view.NewMemtable(db.Params.MinJaccard)
	db.mu.Unlock()
	db.last, db.rotated = logPosition{}, time.Now()
	db.wakeFlush()
	return nil
}
