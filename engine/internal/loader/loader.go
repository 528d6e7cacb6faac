// Package loader adds many documents at once: it gathers them in chunks, and has each written as a
// table and published.
//
//	Add ──> chunk: IDs, fingerprints ───────────────────────────┐
//	   └──> window of texts ──> fingerprints, sketches, records ┴─> table ──> published
//
// While one chunk is written the next one is gathered. What both take is bounded by
// Options.MemoryBytes.
//
// A chunk is columns: 12 bytes a document, and the ID. Sorting (hash of the ID, position) finds
// equal IDs and is the run of IDs; sorting (fingerprint, position) gives the order of documents.
// Sequence numbers are positions, and need no sort. Texts leave memory a window at a time, so a
// table is not bounded by the size of its texts.
//
// A table is compared with every table before it, since an ID may be in both. Files are mostly
// sorted by their IDs, so a table whose IDs are beyond those of earlier tables of the load is
// compared only with documents of others (idspan.go). The store merges the tables of a load after
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
	"github.com/simdb/simdb/sstable"
)

// A Loader adds many documents at once: fingerprinted in parallel, sorted and written straight to
// tables, without the log. Documents become visible and safe a table at a time, and count as
// written then; what was published stays when the process dies. While one table is written the
// documents of the next are gathered. One goroutine at a time may use a Loader; the database can be
// read and written meanwhile, and other loaders may run. Tables are merged when sixteen have been
// written, then thirty-two, and at the end.
type Loader struct {
	db    *store.Store
	ctx   context.Context
	o     Options
	Stats store.TableCounts
	err   error // why nothing more is taken

	stored  storedIDs
	stale   bool   // stored has not seen the last table
	filling *chunk // takes what is added
	writing *chunk // is complete and becomes a table; nil if none does
	spare   *chunk // was written; its memory is for another
	free    chan *window
	texts   bool              // there have been some
	room    sstable.BatchRoom // of the chunk that is written
	maxDocs int64             // documents a chunk
	fresh   []uint64          // tables that were written and that no merge was requested for
	most    int               // of fresh

	// used by the goroutine that writes
	published []store.SeqRange // numbers of the documents of each table, in order
	ids       loadedIDs        // of these tables
}

// Options are engine.LoadOptions.
type Options struct {
	Replace     bool
	MemoryBytes int64
	Workers     int
}

// A result is what became of a chunk.
type result struct {
	stats store.TableCounts
	table uint64 // number of the table, 0 if there is none
	err   error
}

const (
	defaultLoadMemory = 256 << 20

	// loadTables is how many tables a load writes before it has them merged, into two: more at a
	// time are rewritten less often, but meanwhile every search goes through all of them. Twice as
	// many come next and are merged into one, and so on: so no four tables are of about one size,
	// which the policy would merge again.
	loadTables = 16

	// leastMerged is how many tables are merged in the end. The policy leaves fewer alone, too.
	leastMerged = 4

	windows      = 2 // of texts: one is filled while the other is written
	windowShares = 8 // a window has this part of the memory
)

// New starts a load. It must be ended by Close or Abort. Ctx is that of the whole load: when it
// ends, the load does.
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

// renew has IDs looked up in the database as it is now, if they are looked up. That is done before
// more is added, and not when a table has just been published: then nothing is to fail.
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

// Add adds d. When its ID is stored, or was added before, and Replace is off, it returns ErrExists
// and the load continues; so it does after ErrInvalid and ErrTooLarge. Any other error ends the
// load.
func (l *Loader) Add(d *view.Doc) error {
	if l.err != nil {
		return l.err
	}
	if err := cmp.Or(view.CheckDoc(d), l.db.SettleFingerprints(d)); err != nil {
		return err
	}
	// A new chunk is begun before d is added, as the Mark that follows belongs to d's table.
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
	for _, code := range d.Codes() { // in the table of their document
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

// full reports whether the chunk that is filled has its share of the memory.
func (l *Loader) full() bool {
	c := l.filling
	takes, room := l.takes()
	return int64(c.len()) >= l.maxDocs || takes >= room || c.full()
}

// takes returns how much memory the chunk that is filled needs, and how much there is for it. What
// the next one takes while this one is written is as much as this one took while it was filled.
func (l *Loader) takes() (bytes, room int64) {
	gather, write := l.filling.memory()
	room = l.o.MemoryBytes - l.stored.bytes()
	if l.texts {
		room -= windows * l.windowBytes()
	}
	return 2*gather + write, room
}

// expected returns how many documents the chunk that is filled will have, if the others are like
// those that it has.
func (l *Loader) expected() int64 {
	takes, room := l.takes()
	n := int64(l.filling.len())
	return min(l.maxDocs, int64(float64(room)/float64(max(takes, 1))*float64(n)))
}

// windowBytes returns how many bytes of texts a window takes.
func (l *Loader) windowBytes() int64 { return l.o.MemoryBytes / windowShares }

// find returns where an ID goes that is not stored. Otherwise it returns ErrExists, which does not
// end the load.
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

// addText adds the text of the document that is added next. It waits until there is a window for
// it.
func (l *Loader) addText(d *view.Doc) error {
	l.texts = true
	c := l.filling
	if c.window != nil && int64(c.window.bytes) >= l.windowBytes() {
		if err := l.db.Writable(); err != nil {
			return l.fail(err)
		}
		l.start(c)
		c.feed <- c.window // there is room for all
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
	failed := func() chan result { // of the chunks that have windows
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
			if l.writing == nil { // before the chunk is complete, there is no other reason
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

// Marked returns the position that the last load published for source, 0 if there is none.
func (l *Loader) Marked(source string) int64 { return l.db.LoadMark(source) }

// Mark notes that with all documents added so far source has been read up to pos. Marked returns
// pos once they are published, so that an interrupted load can continue there.
func (l *Loader) Mark(source string, pos int64) { l.filling.mark(source, pos) }

// Flush publishes what has been added so far, and returns when that is done. An error ends the
// load.
func (l *Loader) Flush() error {
	if err := l.next(); err != nil {
		return err
	}
	return l.Wait()
}

// next starts to write the documents gathered and begins to gather others, once the table before
// them is written.
func (l *Loader) next() error {
	if err := l.Wait(); err != nil {
		return err
	}
	c := l.filling
	c.endMarks()
	if c.len() == 0 && len(c.marks) == 0 {
		return nil
	}
	if err := l.db.Writable(); err != nil {
		return l.fail(err)
	}
	c.batch.FirstSeq = l.db.NextSeq() // if nothing is written before they are published
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

// start has a chunk written in the background, unless that has been done: its texts as they come,
// the rest when it is complete.
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

// drop ends a chunk that is not complete.
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

// merge has the tables merged that no merge was requested for. If there are no larger ones, the
// first stays as it is and the others become two: so what was loaded is written less than twice,
// and when the first of the two is written, which is when the most room is taken, half of it is
// there twice.
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

// Close publishes what has been added and ends the load.
func (l *Loader) Close() (store.TableCounts, error) {
	err := l.Flush()
	l.end()
	return l.Stats, err
}

// Abort ends the load; what was published stays, the rest is dropped.
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

// write makes a table of a chunk and publishes it. It returns the table's number, 0 if there is
// none.
func (l *Loader) write(c *chunk) (number uint64, stats store.TableCounts, err error) {
	o := sstable.BatchOptions{Workers: l.o.Workers, Room: &l.room}
	t, err := l.db.Tables.WriteBatch(l.ctx, o, func(w *sstable.BatchWriter) (*sstable.Batch, error) {
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

// nextWindow waits for the next window of a chunk, and returns nil when the chunk is complete.
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
