package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/simdb/simdb/sstable"
)

// Loader adds many documents at once: fingerprinted in parallel, sorted and written straight to tables, without the log.
// Documents become visible and safe a table at a time; what was published stays when the process dies. While one table is
// written the documents of the next are gathered. One goroutine at a time may use a Loader; the database can be read and
// written meanwhile, and other loaders may run.
type Loader struct {
	db    *DB
	ctx   context.Context
	o     LoadOptions
	stats LoadStats
	err   error // why nothing more is taken

	snap    *Snapshot  // what Add looks IDs up in; renewed with every table
	filling *loadChunk // takes what is added
	writing *loadChunk // becomes a table, in a goroutine that sends to written; nil if none does
	written chan loadResult
}

// A loadChunk is the documents of one table to be.
type loadChunk struct {
	docs  []sstable.Document // in order of arrival; one without ID was added again later
	ids   map[string]int     // where in docs
	bytes int
	marks map[string]int64
}

type loadResult struct {
	stats LoadStats
	err   error
}

func newLoadChunk() *loadChunk { return &loadChunk{ids: map[string]int{}, marks: map[string]int64{}} }

const (
	defaultLoadMemory = 256 << 20
	loadDocOverhead   = 200 // bytes of memory a buffered document costs beside its own
)

// LoadMark returns the position that the last Loader published for source, 0 if there is none.
func (db *DB) LoadMark(source string) int64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.marks[source]
}

// NewLoader starts a load. It must be ended by Close or Abort.
func (db *DB) NewLoader(ctx context.Context, o LoadOptions) (*Loader, error) {
	if err := db.writable(); err != nil {
		return nil, err
	}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = defaultLoadMemory
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	l := &Loader{db: db, ctx: ctx, o: o, filling: newLoadChunk(), written: make(chan loadResult, 1)}
	var err error
	l.snap, err = db.Snapshot()
	return l, err
}

// Add adds d. When its ID is stored, or was added before, and Replace is off, it returns ErrExists and the load goes on; so it
// does after ErrInvalid and ErrTooLarge. Any other error ends the load.
func (l *Loader) Add(d Doc) error {
	if l.err != nil {
		return l.err
	}
	if err := checkDoc(d); err != nil {
		return err
	}
	// Now, and not once d is added: the Mark that follows belongs to d's table. Half of the memory is for the table being written.
	if int64(l.filling.bytes) >= l.o.MemoryBytes/2 {
		if err := l.next(); err != nil {
			return err
		}
	}
	c := l.filling
	pos, again := c.ids[d.ID]
	if !l.o.Replace {
		stored := again
		if !stored {
			var err error
			if stored, err = l.stored(d.ID); err != nil {
				return l.fail(err)
			}
		}
		if stored {
			return fmt.Errorf("document %s: %w", quoteID(d.ID), ErrExists)
		}
	}
	if again { // the later one counts
		l.stats.Replaced++
		c.docs[pos] = sstable.Document{}
	}
	if d.Time.IsZero() {
		d.Time = l.db.now()
	}
	s := sstable.Document{ID: []byte(d.ID), Time: d.Time.UnixMicro(), Text: []byte(d.Text), Fields: slices.Clone(d.Fields)}
	if d.Fingerprint != nil {
		s.Fingerprint, s.HasFingerprint = *d.Fingerprint, true
	}
	c.ids[d.ID] = len(c.docs)
	c.docs = append(c.docs, s)
	c.bytes += len(d.ID) + len(d.Text) + len(d.Fields) + loadDocOverhead
	if d.Text != "" {
		c.bytes += 4 * int(l.db.params.Sketch)
	}
	return nil
}

// stored reports whether a document with this ID is stored, or about to be.
func (l *Loader) stored(id string) (bool, error) {
	if l.writing != nil {
		if _, ok := l.writing.ids[id]; ok {
			return true, nil
		}
	}
	_, err := l.snap.Lookup(l.ctx, id)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Mark notes that with all documents added so far source has been read up to pos. LoadMark returns pos once they are published,
// so that an interrupted load can go on there.
func (l *Loader) Mark(source string, pos int64) { l.filling.marks[source] = pos }

// Stats returns what has been published so far.
func (l *Loader) Stats() LoadStats { return l.stats }

// Flush publishes what has been added so far, and returns when that is done. An error ends the load.
func (l *Loader) Flush() error {
	if err := l.next(); err != nil {
		return err
	}
	return l.wait()
}

// next starts to write the documents gathered and begins to gather others, once the table before them is written.
func (l *Loader) next() error {
	if err := l.wait(); err != nil {
		return err
	}
	c := l.filling
	if len(c.docs) == 0 && len(c.marks) == 0 {
		return nil
	}
	if err := l.db.writable(); err != nil {
		return l.fail(err)
	}
	// In order of arrival the documents get their numbers, so that the order of writing is that of the input.
	first := l.db.allocSeqs(uint64(len(c.docs)))
	for i := range c.docs {
		c.docs[i].Seq = first + uint64(i)
	}
	l.writing, l.filling = c, newLoadChunk()
	l.filling.docs = make([]sstable.Document, 0, len(c.docs))
	l.db.wg.Go(func() {
		var r loadResult
		r.stats, r.err = l.write(c)
		l.written <- r
	})
	return nil
}

// wait waits for the table that is being written, if any.
func (l *Loader) wait() error {
	if l.writing != nil {
		r := <-l.written
		l.writing = nil
		l.stats.add(r.stats)
		if r.err != nil {
			return l.fail(r.err)
		}
		l.snap.Close()
		var err error
		if l.snap, err = l.db.Snapshot(); err != nil {
			return l.fail(err)
		}
	}
	return l.err
}

func (s *LoadStats) add(t LoadStats) {
	s.Documents += t.Documents
	s.Empty += t.Empty
	s.Replaced += t.Replaced
	s.Tables += t.Tables
	s.Bytes += t.Bytes
}

// Close publishes what has been added and ends the load.
func (l *Loader) Close() (LoadStats, error) {
	err := l.Flush()
	l.end()
	return l.stats, err
}

// Abort ends the load; what was published stays, the rest is dropped.
func (l *Loader) Abort() LoadStats {
	l.wait()
	l.end()
	return l.stats
}

var errLoadEnded = fmt.Errorf("the load has ended: %w", ErrClosed)

func (l *Loader) end() {
	if l.snap != nil {
		l.snap.Close()
	}
	l.fail(errLoadEnded)
	l.filling = newLoadChunk()
}

func (l *Loader) fail(err error) error {
	if l.err == nil {
		l.err = err
	}
	return l.err
}

// write makes a table of a chunk and publishes it.
func (l *Loader) write(c *loadChunk) (stats LoadStats, err error) {
	c.docs = slices.DeleteFunc(c.docs, func(d sstable.Document) bool { return d.ID == nil })
	if err := l.fingerprint(c.docs); err != nil {
		return stats, err
	}
	var t *table
	if len(c.docs) > 0 {
		c.docs = inTableOrder(c.docs)
		if t, err = l.db.writeTable(tableOptions(c.docs), func(w *sstable.Writer) error { return l.fill(w, c.docs) }); err != nil {
			return stats, err
		}
	}
	replaced, stale, err := l.db.publishLoad(t, c.docs, maps.Clone(c.marks), l.o.Replace)
	if err != nil {
		return stats, errors.Join(l.db.fail(err), discard(t))
	}
	if t != nil {
		stats = LoadStats{
			Documents: int64(t.meta.Docs) - int64(stale), Empty: int64(t.meta.Docs) - int64(t.meta.Fingerprints),
			Replaced: int64(replaced), Tables: 1, Bytes: t.meta.Size,
		}
		l.db.wakeCompact()
	}
	return stats, nil
}

// inTableOrder returns the documents in the order of a table, equal ones as they are. Documents are large: what is sorted are
// their fingerprints.
func inTableOrder(docs []sstable.Document) []sstable.Document {
	type key struct {
		last bool // no fingerprint
		at   uint32
		fp   uint64
	}
	keys := make([]key, len(docs))
	for i := range docs {
		keys[i] = key{last: !docs[i].HasFingerprint, at: uint32(i)}
		if !keys[i].last {
			keys[i].fp = docs[i].Fingerprint
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		switch {
		case a.last != b.last:
			if b.last {
				return -1
			}
			return 1
		case a.fp != b.fp:
			return cmp.Compare(a.fp, b.fp)
		}
		return cmp.Compare(a.at, b.at)
	})
	sorted := make([]sstable.Document, len(docs))
	for i, k := range keys {
		sorted[i] = docs[k.at]
	}
	return sorted
}

// fill adds documents to a table until the load is cancelled.
func (l *Loader) fill(w *sstable.Writer, docs []sstable.Document) error {
	for i := range docs {
		if i%1024 == 0 && l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		if !l.db.params.StoreText {
			docs[i].Text, docs[i].Fields = nil, nil
		}
		if err := w.Add(&docs[i]); err != nil {
			return err
		}
	}
	return nil
}

// fingerprint computes sketches, and the fingerprints that are missing, on all workers.
func (l *Loader) fingerprint(docs []sstable.Document) error {
	const chunk = 64
	var wg sync.WaitGroup
	work := make(chan []sstable.Document)
	for range l.o.Workers {
		wg.Go(func() {
			for docs := range work {
				for i := range docs {
					l.db.fingerprint(&docs[i], unsafe.String(unsafe.SliceData(docs[i].Text), len(docs[i].Text)))
				}
			}
		})
	}
	for docs := range slices.Chunk(docs, chunk) {
		if l.ctx.Err() != nil {
			break
		}
		work <- docs
	}
	close(work)
	wg.Wait()
	return l.ctx.Err()
}
