package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/sstable"
)

// Loader adds many documents at once: fingerprinted in parallel, sorted and written straight to tables, without the log.
// Documents become visible and safe a table at a time; what was published stays when the process dies. One goroutine at a
// time may use it; the database can be read and written meanwhile, and other loaders may run.
type Loader struct {
	db    *DB
	ctx   context.Context
	o     LoadOptions
	stats LoadStats
	err   error

	snap  *Snapshot // what Add looks IDs up in; renewed with every table
	docs  []sstable.Document
	todo  []int // documents that need a fingerprint
	ids   map[string]int
	bytes int
	marks map[string]int64
}

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
	l := &Loader{db: db, ctx: ctx, o: o, ids: map[string]int{}}
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
	pos, again := l.ids[d.ID]
	if !again && !l.o.Replace {
		switch _, err := l.snap.Lookup(l.ctx, d.ID); {
		case err == nil:
			again = true
		case !errors.Is(err, ErrNotFound):
			return l.fail(err)
		}
	}
	if again && !l.o.Replace {
		return fmt.Errorf("document %s: %w", quoteID(d.ID), ErrExists)
	}
	if d.Time.IsZero() {
		d.Time = l.db.now()
	}
	s := sstable.Document{ID: []byte(d.ID), Time: d.Time.UnixMicro(), Text: []byte(d.Text), Fields: slices.Clone(d.Fields)}
	if again { // the later one counts
		l.stats.Replaced++
		l.docs[pos] = sstable.Document{}
	}
	l.ids[d.ID] = len(l.docs)
	if d.Fingerprint != nil {
		s.Fingerprint, s.HasFingerprint = *d.Fingerprint, true
	} else {
		l.todo = append(l.todo, len(l.docs))
	}
	l.docs = append(l.docs, s)
	l.bytes += len(d.ID) + len(d.Text) + len(d.Fields) + loadDocOverhead
	if int64(l.bytes) >= l.o.MemoryBytes {
		return l.Flush()
	}
	return nil
}

// Mark notes that with all documents added so far source has been read up to pos. LoadMark returns pos once they are published,
// so that an interrupted load can go on there.
func (l *Loader) Mark(source string, pos int64) {
	if l.marks == nil {
		l.marks = map[string]int64{}
	}
	l.marks[source] = pos
}

// Stats returns what has been published so far.
func (l *Loader) Stats() LoadStats { return l.stats }

// Flush publishes what has been added since the last table. An error ends the load.
func (l *Loader) Flush() error {
	if l.err != nil {
		return l.err
	}
	if len(l.docs) == 0 && len(l.marks) == 0 {
		return nil
	}
	if err := l.ctx.Err(); err != nil {
		return l.fail(err)
	}
	l.fingerprint()
	// In order of arrival the documents get their numbers, so that the order of writing is that of the input.
	first := l.db.allocSeqs(uint64(len(l.docs)))
	for i := range l.docs {
		l.docs[i].Seq = first + uint64(i)
	}
	l.docs = slices.DeleteFunc(l.docs, func(d sstable.Document) bool { return d.ID == nil }) // added again later
	if err := l.publish(); err != nil {
		return l.fail(err)
	}
	clear(l.docs)
	clear(l.ids)
	l.docs, l.todo, l.bytes, l.marks = l.docs[:0], l.todo[:0], 0, nil
	l.snap.Close()
	var err error
	if l.snap, err = l.db.Snapshot(); err != nil {
		return l.fail(err)
	}
	return nil
}

// Close publishes what has been added and ends the load.
func (l *Loader) Close() (LoadStats, error) {
	err := l.Flush()
	l.end()
	if errors.Is(l.err, errLoadEnded) {
		l.err = nil
	}
	return l.stats, err
}

// Abort ends the load; what was published stays, the rest is dropped.
func (l *Loader) Abort() LoadStats {
	l.end()
	return l.stats
}

var errLoadEnded = fmt.Errorf("the load has ended: %w", ErrClosed)

func (l *Loader) end() {
	if l.snap != nil {
		l.snap.Close()
	}
	l.fail(errLoadEnded)
	l.docs, l.ids = nil, nil
}

func (l *Loader) fail(err error) error {
	if l.err == nil {
		l.err = err
	}
	return l.err
}

// fingerprint computes the fingerprints that are missing, on all workers.
func (l *Loader) fingerprint() {
	const chunk = 64
	var wg sync.WaitGroup
	work := make(chan []int)
	for range l.o.Workers {
		wg.Go(func() {
			for todo := range work {
				for _, i := range todo {
					d := &l.docs[i]
					if fp, ok := l.db.Fingerprint(string(d.Text)); ok {
						d.Fingerprint, d.HasFingerprint = fp, true
					}
				}
			}
		})
	}
	for todo := range slices.Chunk(l.todo, chunk) {
		work <- todo
	}
	close(work)
	wg.Wait()
}

// publish writes a table of the buffered documents and makes it part of the database.
func (l *Loader) publish() error {
	var t *table
	if len(l.docs) > 0 {
		if !l.db.params.StoreText {
			for i := range l.docs {
				l.docs[i].Text, l.docs[i].Fields = nil, nil
			}
		}
		slices.SortStableFunc(l.docs, func(a, b sstable.Document) int { return a.Compare(&b) })
		var err error
		if t, err = l.db.writeTable(func(w *sstable.Writer) error {
			for i := range l.docs {
				if err := w.Add(&l.docs[i]); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	replaced, stale, err := l.db.publishLoad(t, l.docs, l.marks, l.o.Replace)
	if err != nil {
		return errors.Join(l.db.fail(err), discard(t))
	}
	if t != nil {
		l.stats.Tables++
		l.stats.Bytes += t.meta.Size
		l.stats.Documents += int64(t.meta.Docs) - int64(stale)
		l.stats.Empty += int64(t.meta.Docs) - int64(t.meta.Fingerprints)
		l.stats.Replaced += int64(replaced)
		l.db.wakeCompact()
	}
	return nil
}

// publishLoad makes t, a table of docs, part of the database. Each of its documents replaces an older one of the same ID; it
// is dead itself (stale) where a newer one was written meanwhile, or any one if replace is off.
func (db *DB) publishLoad(t *table, docs []sstable.Document, marks map[string]int64, replace bool) (replaced, stale int, err error) {
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	db.writeMu.Lock() // from here on no ID can come or go
	defer db.writeMu.Unlock()
	if err := db.writable(); err != nil {
		return 0, 0, err
	}
	// A newer write that makes a document of t stale must be safe before the document is given up.
	if err := db.syncLogLocked(); err != nil {
		return 0, 0, err
	}
	p := publication{db: db, replace: replace, own: roaring.New(), killed: map[*part]*roaring.Bitmap{}}
	for i := range docs {
		if err := p.replaceOlder(uint32(i), string(docs[i].ID), docs[i].Seq); err != nil {
			return 0, 0, err
		}
	}
	edit := catalog.Edit{SetMarks: marks}
	if t != nil {
		edit.AddTables = []catalog.Table{t.meta}
	}
	if err := p.publish(t, edit); err != nil {
		return 0, 0, err
	}
	return p.replaced, int(p.own.GetCardinality()), nil
}

// A publication is a table that becomes part of the database without having been in the log, and what it replaces. The caller
// holds publishMu and writeMu.
type publication struct {
	db       *DB
	replace  bool                      // stored documents give way
	own      *roaring.Bitmap           // documents of the table that are dead on arrival
	killed   map[*part]*roaring.Bitmap // documents of other tables that are dead from now on, with those before
	mem      []*memDoc                 // documents of memtables likewise
	replaced int
}

// replaceOlder looks for another document of the same ID and decides which of the two dies.
func (p *publication) replaceOlder(doc uint32, id string, seq uint64) error {
	old, ok, err := p.db.locateLocked(id)
	if err != nil || !ok {
		return err
	}
	e, err := old.entry()
	if err != nil {
		return err
	}
	if e.Seq > seq || !p.replace && e.Time.UnixMicro() >= p.db.expiry() {
		p.own.Add(doc)
		return nil
	}
	p.replaced++
	if old.mem != nil {
		p.mem = append(p.mem, old.mem)
		return nil
	}
	if p.killed[old.part] == nil {
		p.killed[old.part] = old.part.dead.base.Clone()
	}
	p.killed[old.part].Add(old.doc)
	return nil
}

// publish commits the edit with the tombstones and installs t, which may be nil.
func (p *publication) publish(t *table, edit catalog.Edit) error {
	edit.SetTombstones = map[uint64]*roaring.Bitmap{}
	for part, dead := range p.killed {
		edit.SetTombstones[part.meta.Number] = dead
	}
	if t != nil {
		edit.SetTombstones[t.meta.Number] = p.own
	}
	if err := p.db.apply(edit); err != nil {
		return err
	}
	p.install(t)
	return nil
}

// install makes a committed publication visible.
func (p *publication) install(t *table) {
	db := p.db
	db.mu.Lock()
	defer db.mu.Unlock()
	seq := db.seq + 1 // snapshots that are open keep what was replaced
	var parts []part
	for i := range db.current.parts {
		at := db.current.parts[i]
		if dead := p.killed[&db.current.parts[i]]; dead != nil {
			_, younger := at.dead.upTo(0)
			at.dead = &tombstones{base: dead, recent: younger}
		}
		parts = append(parts, at)
	}
	for _, d := range p.mem {
		d.gone.Store(true)
		d.dead.Store(seq)
	}
	if t != nil {
		parts = append(parts, part{t, newTombstones(p.own)})
	}
	db.seq = seq
	old := db.install(parts)
	old.unref()
}
