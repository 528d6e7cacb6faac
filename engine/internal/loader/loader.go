// Package loader adds many documents at once: it collects them in chunks, writes each chunk as a
// table and publishes it.
//
//	Add ──> chunk: IDs, fingerprints ───────────────────────────┐
//	   └──> window of texts ──> fingerprints, sketches, records ┴─> table ──> published
//
// While one chunk is written the next one is collected. Options.MemoryBytes bounds the memory of
// both.
//
// A chunk consists of columns: 12 bytes per document, and the ID. Sorting (hash of the ID,
// position) finds equal IDs and produces the run of IDs; sorting (fingerprint, position) produces
// the order of documents. Sequence numbers are positions, and need no sort. Texts leave memory a
// window at a time, so the memory limit does not limit the size of a table's texts.
//
// A table must be compared with every earlier table, since an ID may be in both. Most files are
// sorted by ID, so a table whose IDs are greater than those of earlier tables of the load is
// compared only with tables from elsewhere (idspan.go). The store merges the tables of a load after
// every 16.
package loader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// A Loader is engine.Loader. One goroutine at a time may use it.
type Loader struct {
	db    *store.Store
	ctx   context.Context
	o     Options
	Stats store.TableCounts
	err   error // the error that ended the load

	stored  storedIDs
	stale   bool   // stored does not know the last table
	filling *chunk // receives added documents
	writing *chunk // complete, and being written; nil if none
	spare   *chunk // written; its memory will be reused
	free    chan *window
	texts   bool               // some documents had texts
	buffers table.BatchBuffers // buffers for the chunk that is written
	maxDocs int64              // limit of documents per chunk
	fresh   []uint64           // tables written for which no merge was requested
	most    int                // limit of len(fresh)

	// The fields below belong to the goroutine that writes.
	published []store.SeqRange // sequence numbers of the documents of each table, in order
	ids       loadedIDs        // IDs of these tables
}

// Options are engine.LoadOptions.
type Options struct {
	Replace     bool
	MemoryBytes int64
	Workers     int
}

// A result is the outcome of writing a chunk.
type result struct {
	stats store.TableCounts
	table uint64 // number of the table, 0 if none
	err   error
}

const (
	defaultLoadMemory = 256 << 20

	// loadTables is how many tables a load writes before it requests their merge, into two tables:
	// merging more at a time rewrites tables less often, but meanwhile every search reads all of
	// them. The next merge comes after twice as many tables, which become one table, and so on.
	// Thus no four tables have about the same size; the policy would merge such tables again.
	loadTables = 16

	// leastMerged is the smallest number of tables that the end of a load merges. The policy does
	// not merge fewer, either.
	leastMerged = 4

	windows      = 2 // of texts: one is filled while the other is written
	windowShares = 8 // a window has this fraction of the memory
)

// New starts a load. It must be ended by Close or Abort. ctx applies to the whole load: when it
// ends, the load fails.
func New(ctx context.Context, db *store.Store, o Options) (*Loader, error) {
	if err := db.Writable(); err != nil {
		return nil, err
	}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = defaultLoadMemory
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	l := &Loader{db: db, ctx: ctx, o: o, maxDocs: min(maxChunkDocs, db.Tables.MaxDocs()), free: make(chan *window, windows), most: loadTables, ids: newLoadedIDs()}
	l.filling = newChunk(db.Params.NumWords(), !o.Replace)
	for range windows {
		l.free <- &window{}
	}
	l.stored.most = o.MemoryBytes / 4
	l.stale = !o.Replace
	return l, l.renew()
}

// renew updates the view used to look up IDs, if they are looked up. The loader calls it before it
// adds more documents, not right after publishing a table, when nothing may fail.
func (l *Loader) renew() error {
	if !l.stale {
		return nil
	}
	snap, err := l.db.View()
	if err == nil {
		err = l.stored.renew(snap)
	}
	if l.stale = err != nil; err != nil {
		return l.fail(err)
	}
	return nil
}

// Add is engine.Loader.Add.
func (l *Loader) Add(d *view.Doc) error {
	if l.err != nil {
		return l.err
	}
	if err := cmp.Or(view.CheckDoc(d), l.db.CheckText(d.Text), l.db.SettleFingerprints(d)); err != nil {
		return err
	}
	// A new chunk is started before d is added, so that a following Mark belongs to d's table.
	if l.full() {
		if err := l.next(); err != nil {
			return err
		}
	}
	c := l.filling
	var slot idSlot
	if !l.o.Replace {
		var err error
		if slot, err = l.find(d.ID); err != nil {
			return err
		}
	}
	if len(d.Text) > 0 || len(d.Fields) > 0 {
		if err := l.addText(d); err != nil {
			return err
		}
	}
	if c.filled() {
		c.grow(l.expected())
	}
	c.add(d, slot, l.db.Now)
	for _, code := range d.Codes() { // in the same table as their document
		if c.filled() {
			c.grow(l.expected())
		}
		slot := idSlot{}
		if !l.o.Replace {
			_, slot = c.find(code.ID, c.begin(code.ID))
		}
		c.add(&code, slot, l.db.Now)
	}
	return nil
}

// full reports whether the current chunk has used its share of the memory.
func (l *Loader) full() bool {
	c := l.filling
	used, limit := l.memory()
	return int64(c.len()) >= l.maxDocs || used >= limit || c.full()
}

// memory returns how much memory the current chunk needs, and how much it may use. While it is
// written, the next chunk may grow to the size of this one, so that counts twice.
func (l *Loader) memory() (used, limit int64) {
	gather, write := l.filling.memory()
	limit = l.o.MemoryBytes - l.stored.bytes()
	if l.texts {
		limit -= windows * l.windowBytes()
	}
	return 2*gather + write, limit
}

// expected returns how many documents the current chunk will have if later documents resemble those
// in it.
func (l *Loader) expected() int64 {
	used, limit := l.memory()
	n := int64(l.filling.len())
	return min(l.maxDocs, int64(float64(limit)/float64(max(used, 1))*float64(n)))
}

// windowBytes returns the size of a window in bytes of text.
func (l *Loader) windowBytes() int64 { return l.o.MemoryBytes / windowShares }

// find returns the slot for a new ID. If the ID is stored, it returns ErrExists, which does not end
// the load.
func (l *Loader) find(id string) (idSlot, error) {
	c := l.filling
	if err := l.renew(); err != nil {
		return idSlot{}, err
	}
	begin := c.begin(id)
	l.stored.begin(id)
	stored, err := l.stored.has(l.ctx, id, l.writing)
	if err != nil {
		return idSlot{}, l.fail(err)
	}
	pos, slot := c.find(id, begin)
	if stored || pos >= 0 {
		return slot, fmt.Errorf("document %s: %w", files.QuoteID(id), files.ErrExists)
	}
	return slot, nil
}

// addText adds the text of the document that is added next. It waits until a window is free.
func (l *Loader) addText(d *view.Doc) error {
	l.texts = true
	c := l.filling
	if c.window != nil && int64(c.window.bytes) >= l.windowBytes() {
		if err := l.db.Writable(); err != nil {
			return l.fail(err)
		}
		l.start(c)
		c.feed <- c.window // feed has capacity for all windows
		c.window = nil
	}
	if c.window == nil {
		if err := l.takeWindow(c); err != nil {
			return err
		}
	}
	c.window.add(c.len(), d)
	return nil
}

// takeWindow waits until a window is free.
func (l *Loader) takeWindow(c *chunk) error {
	failed := func() chan result { // results of the chunks that use windows
		if l.writing != nil {
			return l.writing.result
		}
		return c.result
	}
	for {
		select {
		case c.window = <-l.free:
			return nil
		case <-l.ctx.Done():
			return l.fail(l.ctx.Err())
		case r := <-failed():
			if l.writing == nil { // a chunk that is not complete reports only failures
				l.filling = newChunk(l.db.Params.NumWords(), !l.o.Replace)
				return l.fail(r.err)
			}
			l.writing.result <- r
			if err := l.Wait(); err != nil {
				return err
			}
		}
	}
}

// Marked returns the position that the last load published for source, or 0 if there is none.
func (l *Loader) Marked(source string) int64 { return l.db.LoadMark(source) }

// Mark is engine.Loader.Mark.
func (l *Loader) Mark(source string, pos int64) { l.filling.mark(source, pos) }

// Flush publishes all documents added so far, and returns when that is done. An error ends the
// load.
func (l *Loader) Flush() error {
	if err := l.next(); err != nil {
		return err
	}
	return l.Wait()
}

// next waits until the previous chunk is written, then starts writing the current one and begins a
// new one.
func (l *Loader) next() error {
	if err := l.Wait(); err != nil {
		return err
	}
	c := l.filling
	if c.last.set {
		c.marks[c.last.source] = c.last.pos
	}
	if c.len() == 0 && len(c.marks) == 0 {
		return nil
	}
	if err := l.db.Writable(); err != nil {
		return l.fail(err)
	}
	c.batch.FirstSeq = l.db.NextSeq() // correct if nothing else is written before they are published
	c.batch.Time = l.db.Now().UnixMicro()
	if !c.timed {
		c.batch.Times = nil
	}
	if l.spare != nil {
		l.filling, l.spare = l.spare.reuse(), nil
	} else {
		l.filling = newChunk(l.db.Params.NumWords(), !l.o.Replace)
	}
	l.writing = c
	if !l.o.Replace {
		err := l.renew()
		if err == nil {
			err = l.stored.addChunk(c)
		}
		if err != nil {
			l.drop(c)
			l.writing = nil
			return l.fail(err)
		}
	}
	l.start(c)
	if c.window != nil {
		c.feed <- c.window
		c.window = nil
	}
	close(c.feed)
	return nil
}

// start starts a goroutine that writes a chunk, unless it runs already: texts as they arrive, the
// rest when the chunk is complete.
func (l *Loader) start(c *chunk) {
	if c.feed != nil {
		return
	}
	c.feed = make(chan *window, windows)
	l.db.InBackground(func() {
		var r result
		r.table, r.stats, r.err = l.write(c)
		c.result <- r
	})
}

// drop abandons an incomplete chunk.
func (l *Loader) drop(c *chunk) {
	c.drop = true
	if c.feed != nil {
		close(c.feed)
		<-c.result
	}
}

// Wait waits for the table that is being written, if any.
func (l *Loader) Wait() error {
	if l.writing == nil {
		return l.err
	}
	r := <-l.writing.result
	l.spare, l.writing = l.writing, nil
	l.Stats.Add(r.stats)
	if r.err != nil {
		return l.fail(r.err)
	}
	if r.table != 0 {
		l.stored.covers(r.table)
		if l.fresh = append(l.fresh, r.table); len(l.fresh) == l.most {
			half := len(l.fresh) / 2
			if l.most > loadTables {
				half = 0
			}
			l.db.WantMerged(l.fresh[:half])
			l.db.WantMerged(l.fresh[half:])
			l.db.WakeCompact()
			l.fresh, l.most = l.fresh[:0], 2*l.most
		}
	}
	l.stale = !l.o.Replace
	return l.err
}

// merge requests a merge of the tables for which none was requested yet. If the load has merged
// none so far, the first table stays and the others become two: then the loaded data is written
// less than twice, and at the peak of disk usage, when the first of the two has been written, only
// half of the data exists twice.
func (l *Loader) merge() {
	if len(l.fresh) == 0 {
		return
	}
	switch n := len(l.fresh); {
	case n < leastMerged:
		l.db.Release(l.fresh)
	case l.most > loadTables:
		l.db.WantMerged(l.fresh)
	default:
		l.db.Release(l.fresh[:1])
		l.db.WantMerged(l.fresh[1 : 1+n/2])
		l.db.WantMerged(l.fresh[1+n/2:])
	}
	l.db.WakeCompact()
	l.fresh = nil
}

// Close publishes all added documents and ends the load.
func (l *Loader) Close() (store.TableCounts, error) {
	err := l.Flush()
	l.end()
	return l.Stats, err
}

// Abort ends the load. Published documents stay, the others are dropped.
func (l *Loader) Abort() store.TableCounts {
	l.Wait()
	l.end()
	return l.Stats
}

var errLoadEnded = fmt.Errorf("the load has ended: %w", files.ErrClosed)

func (l *Loader) end() {
	l.drop(l.filling)
	l.stored.close()
	l.merge()
	l.fail(errLoadEnded)
	l.filling, l.spare = newChunk(l.db.Params.NumWords(), false), nil
}

func (l *Loader) fail(err error) error {
	if l.err == nil {
		l.err = err
	}
	return l.err
}

// write makes a table of a chunk and publishes it. It returns the table's number, or 0 if there is
// none.
func (l *Loader) write(c *chunk) (number uint64, stats store.TableCounts, err error) {
	o := table.BatchOptions{Workers: l.o.Workers, Buffers: &l.buffers}
	t, err := l.db.Tables.WriteBatch(l.ctx, o, func(w *table.BatchWriter) (*table.Batch, error) {
		h := &hasher{texts: l.db.Texts, workers: l.o.Workers}
		for {
			win, err := l.nextWindow(c)
			if err == nil && win != nil {
				err = h.write(l.ctx, w, win, c)
			}
			if err != nil {
				return nil, err
			}
			if win == nil {
				break
			}
			win.reset()
			l.free <- win
		}
		if c.drop {
			return nil, errLoadEnded
		}
		c.settle()
		return &c.batch, nil
	})
	if err != nil {
		return 0, stats, err
	}
	if t != nil {
		l.db.Reserve(t.Meta.Number)
	}
	loaded := store.Loaded{Seqs: l.published, Apart: l.ids.take(c)}
	stats, err = l.db.Publish(l.ctx, t, l.o.Replace, maps.Clone(c.marks), loaded)
	if err != nil {
		if t != nil {
			l.db.Release([]uint64{t.Meta.Number})
		}
		return 0, store.TableCounts{}, errors.Join(err, l.db.Drop(t))
	}
	if t == nil {
		return 0, stats, nil
	}
	stats.Replaced += int64(c.len()) - int64(t.Meta.Docs)
	l.published = append(l.published, store.SeqRange{First: t.Meta.MinSeq, Last: t.Meta.MaxSeq})
	return t.Meta.Number, stats, nil
}

// nextWindow waits for the next window of a chunk. It returns nil when the chunk is complete.
func (l *Loader) nextWindow(c *chunk) (*window, error) {
	select {
	case w := <-c.feed:
		return w, nil
	case <-l.ctx.Done():
		return nil, l.ctx.Err()
	case <-l.db.Stopping():
		return nil, files.ErrClosed
	}
}
