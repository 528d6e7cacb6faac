// Package loader adds many documents at once: it gathers them in chunks, fingerprints and sorts
// each, and has the store publish it as a table.
package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/engine/internal/errs"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
	"golang.org/x/sync/errgroup"
)

// A Loader adds many documents at once: fingerprinted in parallel, sorted and written straight to
// tables, without the log. Documents become visible and safe a table at a time, and count as
// written then; what was published stays when the process dies. While one table is written the
// documents of the next are gathered. One goroutine at a time may use a Loader; the database can be
// read and written meanwhile, and other loaders may run. Tables are compacted when eight have been
// written, and at the end.
type Loader struct {
	db    *store.Store
	ctx   context.Context
	o     Options
	Stats store.TableCounts
	err   error // why nothing more is taken

	stored  storedIDs
	filling *chunk // takes what is added
	writing *chunk // becomes a table, in a goroutine that sends to written; nil if none does
	written chan loadResult
	tables  int   // written since a compaction was requested
	maxDocs int64 // documents a chunk

	published []store.SeqRange // numbers of the documents of each table, in order; used by the goroutine that writes
}

// Options are engine.LoadOptions.
type Options struct {
	Replace     bool
	MemoryBytes int64
	Workers     int
}

// A loadResult is what became of a chunk.
type loadResult struct {
	stats store.TableCounts
	table uint64 // number of the table, 0 if there is none
	err   error
}

const (
	defaultLoadMemory = 256 << 20

	// loadTables is how many tables a load writes before it requests a compaction: more at a time
	// are rewritten less often, but meanwhile every search goes through all of them.
	loadTables = 8
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
	l := &Loader{db: db, ctx: ctx, o: o, filling: newChunk(0), written: make(chan loadResult, 1), maxDocs: min(maxChunkDocs, db.MaxDocs())}
	l.stored.most = o.MemoryBytes / 4
	return l, l.renew()
}

// renew has IDs looked up in the database as it is now.
func (l *Loader) renew() error {
	snap, err := l.db.View()
	if err != nil {
		return err
	}
	return l.stored.renew(snap)
}

// Add adds d. When its ID is stored, or was added before, and Replace is off, it returns ErrExists
// and the load goes on; so it does after ErrInvalid and ErrTooLarge. Any other error ends the load.
func (l *Loader) Add(d view.Doc) error {
	if l.err != nil {
		return l.err
	}
	if err := store.CheckDoc(d); err != nil {
		return err
	}
	// A new chunk is begun before d is added, as the Mark that follows belongs to d's table. Half
	// of the memory is for the table being written.
	if c := l.filling; int64(c.bytes) >= (l.o.MemoryBytes-l.stored.bytes())/2 || int64(len(c.docs)) >= l.maxDocs {
		if err := l.next(); err != nil {
			return err
		}
	}
	c := l.filling
	begin := c.begin(d.ID)
	if !l.o.Replace {
		l.stored.begin(d.ID)
	}
	if d.Time.IsZero() { // between begin and find, so that nobody waits for memory
		d.Time = l.db.Now()
	}
	stored := false
	if !l.o.Replace {
		var err error
		if stored, err = l.stored.has(l.ctx, d.ID, l.writing); err != nil {
			return l.fail(err)
		}
	}
	pos, slot := c.find(d.ID, begin)
	again := pos >= 0
	if stored || again && !l.o.Replace {
		return fmt.Errorf("document %s: %w", errs.QuoteID(d.ID), errs.ErrExists)
	}
	if again { // the later one counts
		l.Stats.Replaced++
		c.docs[pos].dropped = true
	}
	c.add(&d, slot)
	if d.Text != "" {
		c.bytes += sketchBytes(int(l.db.Params.Sketch))
	}
	return nil
}

// sketchBytes is what a sketch of n entries takes.
func sketchBytes(n int) int {
	if n == 0 {
		return 0
	}
	return 4*n + int(unsafe.Sizeof([]uint32{}))
}

// Mark notes that with all documents added so far source has been read up to pos. LoadMark returns
// pos once they are published, so that an interrupted load can go on there.
func (l *Loader) Mark(source string, pos int64) { l.filling.marks[source] = pos }

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
	if len(c.docs) == 0 && len(c.marks) == 0 {
		return nil
	}
	if err := l.db.Writable(); err != nil {
		return l.fail(err)
	}
	c.first = l.db.NextSeq()
	l.writing, l.filling = c, newChunk(len(c.docs))
	if !l.o.Replace {
		if err := l.stored.addChunk(c); err != nil {
			return l.fail(err)
		}
	}
	l.db.InBackground(func() {
		var r loadResult
		r.table, r.stats, r.err = l.write(c)
		l.written <- r
	})
	return nil
}

// Wait waits for the table that is being written, if any.
func (l *Loader) Wait() error {
	if l.writing == nil {
		return l.err
	}
	r := <-l.written
	l.writing = nil
	l.Stats.Add(r.stats)
	if r.err != nil {
		return l.fail(r.err)
	}
	if r.table != 0 {
		l.stored.covers(r.table)
		if l.tables++; l.tables == loadTables {
			l.compact()
		}
	}
	if err := l.renew(); err != nil {
		return l.fail(err)
	}
	return l.err
}

// compact has the tables that were written merged, where the policy says so.
func (l *Loader) compact() {
	if l.tables > 0 {
		l.db.WakeCompact()
	}
	l.tables = 0
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

var errLoadEnded = fmt.Errorf("the load has ended: %w", errs.ErrClosed)

func (l *Loader) end() {
	l.stored.close()
	l.compact()
	l.fail(errLoadEnded)
	l.filling = newChunk(0)
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
	if err := l.fingerprint(c); err != nil {
		return 0, stats, err
	}
	var t *view.Table
	if order := c.tableOrder(); len(order.pos) > 0 {
		o := sstable.WriterOptions{
			Docs: len(order.pos), Hot: sstable.HotHashes(len(order.pos), func(i int) []uint32 { return c.sketch(order.pos[i]) }),
		}
		if t, err = l.db.WriteTable(o, func(w *sstable.Writer) error { return l.fill(w, c, order) }); err != nil {
			return 0, stats, err
		}
	}
	stats, err = l.db.Publish(l.ctx, t, l.o.Replace, maps.Clone(c.marks), l.published)
	if err != nil {
		return 0, store.TableCounts{}, errors.Join(err, l.db.Drop(t))
	}
	if t == nil {
		return 0, stats, nil
	}
	l.published = append(l.published, store.SeqRange{First: t.Meta.MinSeq, Last: t.Meta.MaxSeq})
	return t.Meta.Number, stats, nil
}

// fill adds the documents of a chunk to a table until the load is cancelled.
func (l *Loader) fill(w *sstable.Writer, c *chunk, order tableOrder) error {
	n := 0
	return c.eachIn(order, func(d *sstable.Document) error {
		if n++; n%1024 == 0 && l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		return w.Add(d)
	})
}

// fingerprint computes sketches, and the fingerprints that are missing, on all workers.
func (l *Loader) fingerprint(c *chunk) error {
	const share = 64 // documents at a time
	if l.db.Params.Sketch > 0 {
		c.sketches = make([][]uint32, len(c.docs))
	}
	work, ctx := errgroup.WithContext(l.ctx)
	var next atomic.Int64
	for range min(l.o.Workers, len(c.docs)/share+1) {
		work.Go(func() error {
			var last summed
			for ctx.Err() == nil {
				from := int(next.Add(share)) - share
				if from >= len(c.docs) {
					return nil
				}
				for pos := from; pos < min(from+share, len(c.docs)); pos++ {
					l.sum(c, pos, &last)
				}
			}
			return ctx.Err()
		})
	}
	return work.Wait()
}

// summed is a text of a chunk and what was computed from it.
type summed struct {
	text   []byte
	fp     base.Fingerprint
	words  bool
	sketch minhash.Sketch
}

// sum is fingerprint for one document. Files have equal texts next to each other: these share one
// sketch, made once.
func (l *Loader) sum(c *chunk, pos int, last *summed) {
	d := &c.docs[pos]
	if d.text == 0 || d.dropped || d.hasFP && c.sketches == nil {
		return
	}
	if text := c.text(pos); !bytes.Equal(text, last.text) {
		last.text = text
		last.fp, last.words, last.sketch = l.db.Texts.Sums(unsafe.String(unsafe.SliceData(text), len(text)))
	}
	if !d.hasFP {
		c.fps[pos], d.hasFP = last.fp, last.words
	}
	if c.sketches != nil {
		c.sketches[pos] = last.sketch
	}
}
