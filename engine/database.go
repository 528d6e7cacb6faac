package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// DB is an open database. Its methods may be called from many goroutines.
type DB struct {
	Reader // reads the state of the database when a method is called or an iteration begins
	Writer // each call is one write
	s      *store.Store
	during func(ctx context.Context) (end func()) // of Options.Table, or nil
}

// Create makes a new database at path and opens it. It returns ErrExists if path exists and is not
// an empty directory.
func Create(path string, o *Options) (*DB, error) { return opened(store.Create(path, o.internal())) }

// Open opens the database at path. If path does not exist, Open creates the database unless Options
// forbids it. Open also opens a single table file (.sst), read-only; OpenSet opens several.
//
// Open recovers from a crash: it replays the log, cuts off its torn end, which was never
// acknowledged, and removes files that were being written. If the directory of a table is damaged,
// but not its documents, Open rebuilds the table, unless it opens read-only: see DB.Repair. Any other
// damage is a *CorruptionError.
// If another process has the database open for writing, Open returns ErrLocked after
// Options.BusyTimeout, unless it opens the database read-only: a reader takes no lock. It returns
// ErrNotFound if there is no database at path, ErrNotDatabase if there is something else, and
// ErrParams if options differ from those that the database was created with.
func Open(path string, o *Options) (*DB, error) {
	db, err := opened(store.Open(path, o.internal()))
	if err == nil && o != nil {
		if t, ok := o.Table.(interface {
			During(ctx context.Context) (end func())
		}); ok {
			db.during = t.During
		}
	}
	return db, err
}

// Build makes a new database at path and calls fill to fill it; fill must not close it. The
// database appears at path as a whole when Build returns nil. Until then, and after an error or a
// kill, there is no database at path, and the next Create, Open or Build starts from nothing.
// Errors are as for Create, or come from fill.
func Build(path string, fill func(*DB) error, o *Options) error {
	return store.Build(path, o.internal(), func(s *store.Store) error {
		db, err := opened(s, nil)
		if err == nil {
			err = fill(db)
		}
		return err
	})
}

// OpenSet opens several tables as one read-only database: the one that Ingest would make by adding
// them in this order. Their parameters must be equal, except for the layout (ErrParams). If several
// tables hold the same ID, the document in the last one wins; sequence numbers are those that
// Ingest would assign. OpenSet writes nothing: it records in memory which documents are visible. It
// compares the IDs of each table with those of all earlier tables, which is slow for many large
// tables.
//
// A path may also name a database. It counts as the table that Pack would write at this moment;
// Refresh does not follow it. The tables and databases stay open until Close.
func OpenSet(paths []string, o *Options) (*DB, error) {
	return opened(store.OpenSet(paths, o.internal()))
}

func opened(s *store.Store, err error) (*DB, error) {
	if err != nil {
		return nil, err
	}
	db := &DB{s: s}
	db.Reader.db, db.Writer.r = db, &db.Reader
	return db, nil
}

// mergeEvents describes merges as events.
func mergeEvents(all []merges.Stats) (events []Event) {
	for _, m := range all {
		events = append(events, Event{
			Kind: store.EventCompact, Tables: m.Inputs, Output: m.Output, Reason: string(m.Reason), Docs: int(m.Documents), InputDocs: int(m.InputDocuments),
			InputBytes: m.InputBytes, Bytes: m.Bytes, Started: m.Started, Duration: m.Duration, Done: m.Done, Err: m.Err,
		})
	}
	return events
}

// Options returns the options with which the database was created, every one of the first group of
// Options with the defaults filled in: Shingle is 3 if Create was given 0. TTL is the current one.
// Create makes a database with the same parameters from them.
func (db *DB) Options() Options {
	p := &db.s.Params
	spec, _ := p.Spec() // parameters of a database are valid
	return Options{
		Shingle: int(p.Shingle), Features: Features(spec), Bits: db.s.Bits(), Layout: p.Layout.String(),
		Sketch: int(p.Sketch), MinJaccard: p.MinJaccard, NoText: !p.StoreText, NoSketch: p.Sketch == 0,
		Containment: p.Sets, Index: indexOf(*p), TTL: db.s.TTL(),
	}
}

func indexOf(p table.Params) (names []string) {
	for _, path := range p.Indexed() {
		names = append(names, jsonfield.Name(path))
	}
	return names
}

// Close ends background work and releases the files. Acknowledged writes are safe in the log and
// tables even if a database is never closed. Close waits for running writes; methods called
// afterwards return ErrClosed. Open Snapshots stay readable. Before closing, Close refuses writes,
// finishes or abandons running merges as Options.CloseWait says, and merges small tables that are
// due, so that short-lived processes compact too. It waits for a running Compact to return; cancel
// the context of Compact to end it sooner. A second Close returns the result of the first.
func (db *DB) Close() error { return db.s.Close() }

// Discard closes the database. If this DB created it and nothing was ever stored in it, Discard
// also removes it, so that a program that fails leaves no empty database behind.
func (db *DB) Discard() error { return db.s.Discard() }

// Refresh makes the writes of another process since Open, or since the last Refresh, visible to a
// database that was opened read-only. It shows whole writes in their order, at least all that were
// acknowledged before Refresh was called. Open Snapshots stay as they are. Refresh costs
// microseconds if nothing was written, and otherwise reads only new data; after a flush or a
// compaction it reads the catalog and opens new tables. A database that is open for writing needs
// no Refresh: it returns nil. Errors are ErrClosed, ctx.Err(), and the errors of Open; after an
// error the database shows the same state as before.
func (db *DB) Refresh(ctx context.Context) error { return db.s.Refresh(ctx) }

// ReleaseDeleted closes files that a database opened read-only still has open although another
// process has removed them: their disk space is free once nobody has them open. If there are such
// files, the DB drops its state, and the next call reads the database again. Open Snapshots still
// hold their files. ReleaseDeleted reports whether the DB still has files open that may be removed
// later. A program that leaves a reader idle for a long time should call it now and then. A DB that
// is open for writing has no such files. Errors are ErrClosed and errors of the file system.
func (db *DB) ReleaseDeleted() (holds bool, err error) { return db.s.ReleaseDeleted() }

// Flush writes all memtables to tables and returns when that is done. The error is ErrClosed,
// ErrReadOnly, ErrFailed, or ctx.Err().
func (db *DB) Flush(ctx context.Context) error { return db.s.Flush(ctx) }

// CompactOptions are the options of Compact.
type CompactOptions struct {
	// Due runs only the merges that background compaction would run: a large table is merged only
	// when there are enough others of its size. It flushes nothing except writes that would force
	// expired documents to stay. At the end of a load it ensures that the next search reads few
	// tables. It also merges while compaction is paused.
	Due      bool
	Progress func(Progress) // called from another goroutine; may be nil
}

// Compact flushes the memtables and merges all tables into one, dropping deleted, replaced and
// expired documents with their texts. If one table cannot hold all documents within
// Options.MaxTableBytes, it merges whole tables into few. It returns when that is done; reads and
// writes continue meanwhile. Errors are as for Flush, and *CorruptionError, in which case the
// undamaged tables have been merged.
func (db *DB) Compact(ctx context.Context, o *CompactOptions) error {
	o = cmp.Or(o, &CompactOptions{})
	if o.Due {
		return db.s.CompactDue(ctx, progressTo(o.Progress))
	}
	return db.s.Compact(ctx, progressTo(o.Progress))
}

// SetCompactionRate sets how many bytes per second all merges write together, as
// Options.CompactionRate does; 0 means no limit. A negative rate pauses compaction until the rate
// is set again: no merge starts in the background, and running merges are suspended. Compact still
// works, and lets suspended merges continue while it waits for them; so does Close. While
// compaction is paused, writers are not held back, however many tables there are.
func (db *DB) SetCompactionRate(bytes int64) { db.s.SetCompactionRate(bytes) }

// Pack writes all visible documents into one table file at path, which Open opens as a read-only
// database and Ingest adds to others. The file appears whole or not at all. If path exists, at the
// start or at the end, the error is ErrExists. Pack writes a file beside path whose name starts
// with a dot and ends with .tmp; if the process is killed, that file remains. If one table cannot
// hold all documents (2^32 - 2, or fewer with sketches), Pack returns ErrTooLarge before it writes
// anything. progress may be nil.
func (db *DB) Pack(ctx context.Context, path string, progress func(Progress)) error {
	return db.s.Pack(ctx, path, progressTo(progress))
}

// Ingest adds the documents of table files, made by Pack or elsewhere, to the database: it copies
// the files unchanged. Their documents count as written now, file after file, and within a file in
// their original order. A document replaces the stored document with the same ID. All files must
// have the parameters of the database, except for the layout (ErrParams). Ingest adds one file at a
// time; after an error, the files before the failed one remain added.
func (db *DB) Ingest(ctx context.Context, paths ...string) error { return db.s.Ingest(ctx, paths) }

// Backup makes a backup of the database in the folder path, which must be missing, empty, or an
// earlier backup of the same database. Backup updates an earlier backup, and does not copy its
// tables again. Anything else at path is ErrExists. The backup has the state of one moment, as in a
// Snapshot taken at the beginning. Backup does not lock the database: a DB that was opened
// read-only, with a writer in another process, backs up the state that it shows. Writes continue
// meanwhile.
//
// To restore a backup, open it like any database. Opened for writing it becomes a separate
// database, and can no longer be updated by Backup. An error, such as a full disk, or a kill leaves
// the earlier backup unchanged; the next run reuses the copies of a killed or cancelled run. Backup
// verifies the checksums of each copy: damage of the database is a *CorruptionError. The folder is
// locked while it is written: ErrLocked. For a DB of a single table file, or of a set, the error is
// ErrInvalid.
func (db *DB) Backup(ctx context.Context, path string, o *BackupOptions) (BackupReport, error) {
	o = cmp.Or(o, &BackupOptions{})
	r, err := db.s.Backup(ctx, path, backup.Options{Link: o.Links, Progress: progressTo(o.Progress)})
	return BackupReport(r), err
}

// BackupOptions are the options of Backup.
type BackupOptions struct {
	// Links hard-links the table files, which never change, instead of copying them, if the backup
	// is on the same file system. Links cost neither time nor space, but damage to a linked file
	// damages both the database and the backup.
	Links    bool
	Progress func(Progress) // in bytes of tables; may be nil
}

// BackupReport describes a finished Backup.
type BackupReport struct {
	Tables         int   // number of tables in the backup
	Copied, Linked int   // number of tables that the earlier backup did not have
	Bytes          int64 // size of all tables in the backup
	BytesWritten   int64 // size of the tables written by this run
}

// Metrics describes how the DB was opened and what it has done since.
func (db *DB) Metrics() Metrics {
	c := &db.s.Counts
	running, past := db.s.Merges()
	damaged, _ := db.s.Damaged()
	cache := db.s.Tables.Cache.Stats()
	m := Metrics{
		Path: db.s.Path, Created: db.s.IsNew(), Memory: db.s.Memory, IndexMemory: db.s.Small.Bytes(),
		CacheSize: cache.Size, CacheBytes: cache.Used, CacheHits: cache.Hits, CacheMisses: cache.Misses,
		Puts: c.Puts.Load(), Deletes: c.Deletes.Load(), Batches: c.Batches.Load(), Queries: c.Queries.Load(),
		Flushes: c.Flushes.Load(), Compactions: c.Compactions.Load(), BytesFlushed: c.BytesFlushed.Load(),
		BytesLoaded: c.BytesLoaded.Load(), BytesCompacted: c.BytesCompacted.Load(), WALBytes: c.WALBytes.Load(), BytesScrubbed: c.BytesScrubbed.Load(), CatalogBytes: c.CatalogBytes.Load(),
		TablesMerged: c.Merged.Load(), BytesMerged: c.BytesMerged.Load(), CompactionTime: time.Duration(c.CompactTime.Load()),
		Merging: len(running), Running: mergeEvents(running), Past: mergeEvents(past), Damaged: damaged,
		Stalls: c.Stalls.Load(), StallTime: time.Duration(c.StallTime.Load()), SlowTime: time.Duration(c.SlowTime.Load()),
	}
	if in := m.BytesFlushed + m.BytesLoaded; in > 0 {
		m.WriteAmplification = float64(in+m.BytesCompacted+m.CatalogBytes) / float64(in)
	}
	return m
}

// Hash computes the fingerprint and the MinHash sketch that Put stores for text. Both are nil if
// text has no words; the fingerprint is also nil in a database with Features.Code, and the sketch if
// the database stores none.
func (db *DB) Hash(text string) (Fingerprint, minhash.Sketch) {
	var s view.Sums
	if db.s.Texts.Sum(&s, text); !s.Words {
		return nil, s.Sketch
	}
	return append(Fingerprint{s.Fingerprint}, s.Rest...), s.Sketch
}

// Identifier returns a function that describes in words the simdb file or folder at a path: a
// database; a file in the folder of a database, whether it exists or not; or a table, log or
// catalog anywhere, recognized by its content. It returns "" for any other path. A program calls it
// before it replaces a file. The function lists each folder once, but recognizes a database that is
// created in the folder later. It may be used concurrently.
func Identifier() func(path string) (string, error) { return new(files.Identifier).Identify }
