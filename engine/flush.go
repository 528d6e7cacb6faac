package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// background is the work that a DB does on its own: one goroutine flushes, one compacts.
type background struct {
	wg       sync.WaitGroup
	flushC   chan struct{} // capacity 1: something to flush
	compactC chan struct{} // capacity 1: the tables changed
}

func (b *background) wakeFlush()   { wake(b.flushC) }
func (b *background) wakeCompact() { wake(b.compactC) }
func (b *background) wait()        { b.wg.Wait() }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake already, or the database has no background work
	}
}

// startBackground starts the goroutines; they end when ctx does.
func (db *DB) startBackground(ctx context.Context) {
	db.flushC, db.compactC = make(chan struct{}, 1), make(chan struct{}, 1)
	db.wg.Go(func() { db.loop(ctx, db.flushC, db.flushAll) })
	if !db.opts.DisableAutoCompaction {
		db.wg.Go(func() { db.loop(ctx, db.compactC, db.compactAuto) })
	}
}

// loop runs work whenever it is woken. A failure of work is the database's.
func (db *DB) loop(ctx context.Context, woken <-chan struct{}, work func(context.Context) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-woken:
		}
		if err := work(ctx); err != nil && ctx.Err() == nil {
			if db.failed.Load() == nil {
				db.fail(err)
			}
			return
		}
	}
}

// Flush writes everything that is in memtables to tables and returns when that is done.
func (db *DB) Flush(ctx context.Context) error {
	db.writeMu.Lock()
	err := db.writable()
	if err == nil && !db.active.empty() {
		err = db.rotateLocked()
	}
	db.writeMu.Unlock()
	for err == nil && db.immutables() > 0 {
		if err = db.writable(); err == nil {
			err = db.waitFlush(ctx)
		}
	}
	return err
}

// flushAll flushes immutable memtables, oldest first, until there is none.
func (db *DB) flushAll(ctx context.Context) error {
	for {
		db.mu.Lock()
		var m *memtable
		if len(db.immutable) > 0 {
			m = db.immutable[0]
		}
		db.mu.Unlock()
		if m == nil || ctx.Err() != nil {
			return nil
		}
		if err := db.flush(m); err != nil {
			return fmt.Errorf("flushing the memtable: %w", err)
		}
	}
}

// flush writes m, the oldest immutable memtable, to a table, publishes it and removes its log.
func (db *DB) flush(m *memtable) error {
	start := time.Now()
	docs := m.living()
	var t *table
	if len(docs) > 0 {
		var err error
		if t, err = db.writeTable(memOptions(docs), func(w *sstable.Writer) error { return addDocs(w, docs) }); err != nil {
			return err
		}
	}
	if err := db.publishFlush(m, t, docs); err != nil {
		return errors.Join(err, discard(t))
	}
	for _, number := range m.logs {
		if err := db.dir.Remove(logName(number)); err != nil { // the next Open removes it
			db.log.Warn("removing a log that is no longer needed", "path", db.path, "err", err)
		}
	}
	e := Event{Kind: "flush", Docs: len(docs), Duration: time.Since(start)}
	if t != nil {
		e.Tables, e.Bytes = []uint64{t.meta.Number}, t.meta.Size
		db.metrics.flushed(t.meta.Size)
		db.wakeCompact()
	}
	db.event(e)
	return nil
}

// living returns the documents of a memtable that is no longer written to, in the order of a table. What a write in a
// younger memtable has killed is among them: until its log is flushed too, that write is not durable in the catalog.
func (m *memtable) living() []*memDoc {
	docs := make([]*memDoc, 0, len(m.cur.docs))
	for _, d := range m.cur.docs {
		if d.aliveAt(m.maxSeq) {
			docs = append(docs, d)
		}
	}
	sortDocs(docs)
	return docs
}

// sortDocs brings documents into the order of a table.
func sortDocs(docs []*memDoc) {
	slices.SortStableFunc(docs, func(a, b *memDoc) int { return a.Compare(&b.Document) })
}

// memOptions are the options for writing a table of a memtable's documents.
func memOptions(docs []*memDoc) sstable.WriterOptions {
	return sstable.WriterOptions{
		Docs: len(docs), Level: sstable.LevelFastest,
		Hot: sstable.HotHashes(len(docs), func(i int) []uint32 { return docs[i].Sketch }),
	}
}

func addDocs(w *sstable.Writer, docs []*memDoc) error {
	for _, d := range docs {
		if err := w.Add(&d.Document); err != nil {
			return err
		}
	}
	return nil
}

// publishFlush makes the table of m (nil if nothing in it lived) part of the database in m's place.
func (db *DB) publishFlush(m *memtable, t *table, docs []*memDoc) error {
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	db.mu.Lock()
	v := db.current
	db.mu.Unlock()

	edit := catalog.Edit{SetTombstones: map[uint64]*roaring.Bitmap{}}
	var parts []part
	for _, p := range v.parts {
		if dead, _ := p.dead.upTo(m.maxSeq); dead != p.dead.base {
			edit.SetTombstones[p.meta.Number] = dead
		}
	}
	gone := roaring.New() // a load has replaced these since they were picked
	if t != nil {
		for i, d := range docs {
			if d.gone.Load() {
				gone.Add(uint32(i))
			}
		}
		edit.AddTables = []catalog.Table{t.meta}
		edit.SetTombstones[t.meta.Number] = gone
	}
	edit.FlushedSeq = &m.maxSeq
	edit.FirstWAL = new(m.logs[len(m.logs)-1] + 1)
	if err := db.apply(edit); err != nil {
		return err
	}

	db.writeMu.Lock() // no tombstone comes from here on
	defer db.writeMu.Unlock()
	for _, p := range v.parts {
		if dead := edit.SetTombstones[p.meta.Number]; dead != nil {
			_, younger := p.dead.upTo(m.maxSeq)
			p.dead = &tombstones{base: dead, recent: younger}
		}
		parts = append(parts, p)
	}
	if t != nil {
		dead := newTombstones(gone)
		for i, d := range docs {
			if s := d.dead.Load(); s != 0 && !gone.Contains(uint32(i)) {
				dead.kill(uint32(i), s)
			}
		}
		parts = append(parts, part{t, dead})
	}
	db.mu.Lock()
	old := db.install(parts)
	db.immutable = slices.Clone(db.immutable[1:])
	db.flushed.Broadcast()
	db.mu.Unlock()
	return old.unref()
}

// apply commits an edit of the catalog, with the next file number, and gives the files of new tables their names. The caller holds
// publishMu.
//
// A table is written under a temporary name. Until the catalog lists it, whoever opens the database next may remove the file; from
// then on that opener gives it its name, if this process can't.
func (db *DB) apply(e catalog.Edit) error {
	db.mu.Lock()
	e.NextFile = new(db.nextFile)
	db.mu.Unlock()
	if err := db.cat.Apply(e); err != nil {
		return fmt.Errorf("updating the catalog: %w", err)
	}
	for _, t := range e.AddTables {
		if err := db.dir.Rename(newTableName(t.Number), tableName(t.Number)); err != nil {
			db.log.Warn("giving a table its name", "path", db.path, "err", err)
		}
	}
	return nil
}

// writeTable writes a new table file with what fill adds to it and opens it. Nothing refers to it yet; on an error it is
// removed.
func (db *DB) writeTable(o sstable.WriterOptions, fill func(*sstable.Writer) error) (*table, error) {
	number := db.allocFile()
	info, err := writeTableFile(db.dir, newTableName(number), db.params, o, fill)
	if err == nil {
		err = db.dir.SyncDir(".")
	}
	var t *table
	if err == nil {
		t, err = db.openTable(tableMeta(number, info), newTableName(number))
	}
	if err != nil {
		return nil, errors.Join(err, removeIfThere(db.dir, newTableName(number)))
	}
	return t, nil
}

// writeSize is how many bytes of a table are written at once. Written whole, two aligned megabytes are one large page of the cache on
// kernels that have those, which is how a table that was just written, too, is mapped with them.
const writeSize = 2 << 20

// writeBuffers keeps buffers of that size: most tables of a busy database are smaller.
var writeBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeSize) }}

// writeTableFile writes a table to path and makes it safe, all but its directory entry.
func writeTableFile(fs vfs.FS, path string, params sstable.Params, o sstable.WriterOptions, fill func(*sstable.Writer) error) (sstable.Info, error) {
	f, err := fs.Create(path)
	if err != nil {
		return sstable.Info{}, err
	}
	buf := writeBuffers.Get().(*bufio.Writer)
	buf.Reset(f)
	defer func() {
		buf.Reset(nil)
		writeBuffers.Put(buf)
	}()
	w, err := sstable.NewWriter(buf, params, o)
	if err == nil {
		err = fill(w)
	}
	var info sstable.Info
	if err == nil {
		info, err = w.Close()
	}
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

// discard closes a table that was not published; its file is left to the next Open, since the catalog may or may not list it.
func discard(t *table) error {
	if t == nil {
		return nil
	}
	return t.drop(false)
}

// drop closes a table that was not published (nil for none), and removes its file if the catalog is known not to list it.
func (db *DB) drop(t *table) error {
	if t == nil {
		return nil
	}
	return t.drop(db.failed.Load() == nil)
}

func removeIfThere(fs vfs.FS, path string) error {
	if _, err := fs.Stat(path); err != nil {
		return nil
	}
	return fs.Remove(path)
}
