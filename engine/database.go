package engine

import (
	"context"
	"time"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// DB is an open database. All methods may be called from many goroutines.
type DB struct {
	s      *store.Store
	params Params // without TTL, which a reader may read again
}

// Create makes a new database at path and opens it. It returns ErrExists if there is something at
// path that is not an empty directory.
func Create(path string, o ...*Options) (*DB, error) {
	of := given(o)
	return opened(store.Create(path, of.internal()))
}

// Open opens the database at path, which it creates if there is nothing and Options does not forbid
// it. A single table file (.sst) is opened as well, read-only; OpenSet opens several.
//
// Open recovers what a crash has left: the log is replayed, its torn end, which was never
// acknowledged, is cut off, and files that were being written are removed. Anything else that is
// damaged is a *CorruptionError. A database that another process has open for writing is ErrLocked
// after Options.BusyTimeout, unless it is opened read-only: a reader takes no lock.
// ErrNotFound is for no database at path, ErrNotDatabase for something else there, ErrParams for
// options that differ from those it was created with.
func Open(path string, o ...*Options) (*DB, error) {
	of := given(o)
	return opened(store.Open(path, of.internal()))
}

// Build makes a new database at path, which fill fills and does not close. It is there as a whole
// when Build returns nil, and not before: until then, and after an error or a kill, there is none at
// path, and whatever makes a database there begins anew. Errors are those of Create and of fill.
func Build(path string, fill func(*DB) error, o ...*Options) error {
	of := given(o)
	return store.Build(path, of.internal(), func(s *store.Store) error {
		db, err := opened(s, nil)
		if err == nil {
			err = fill(db)
		}
		return err
	})
}

// OpenSet opens several tables as one read-only database: the one that Ingest would make by
// adding them in this order. They must have the same parameters, except the layout (ErrParams).
// Of documents with the same ID, the one in the last table counts; sequence numbers are those
// that Ingest would give. Which documents count is held in memory; nothing is written. Opening
// compares the IDs of each table with those of all tables before it, which takes long for many
// large tables.
//
// A database may be in the set, too. It counts as the table that Pack would write at this
// moment; Refresh does not follow it. The tables and databases stay open until Close.
func OpenSet(paths ...string) (*DB, error) { return (*Options)(nil).OpenSet(paths...) }

// OpenSet is the function [OpenSet] with options, which may be nil.
func (o *Options) OpenSet(paths ...string) (*DB, error) {
	return opened(store.OpenSet(paths, o.internal()))
}

// Options returns the options with which Create makes a database of these parameters.
func (p Params) Options() *Options {
	return &Options{
		Shingle: p.Shingle, Features: p.Features, Bits: p.Bits, Layout: p.Layout, Sketch: p.Sketch, MinJaccard: p.MinJaccard,
		NoText: !p.Text, NoSketch: p.Sketch == 0, Containment: p.Containment, Index: p.Index, TTL: p.TTL,
	}
}

func opened(s *store.Store, err error) (*DB, error) {
	if err != nil {
		return nil, err
	}
	p := s.Params
	return &DB{s, Params{
		Tokenizer: int(p.Tokenizer), Shingle: int(p.Shingle), Layout: Layout(p.Layout.String()), Sketch: int(p.Sketch),
		Bits: s.Bits(), MinJaccard: p.MinJaccard, Text: p.StoreText, Features: featuresOf(p.Features), Containment: p.Sets, Index: indexOf(p),
	}}, nil
}

func indexOf(p sstable.Params) (names []string) {
	for _, path := range p.Indexed() {
		names = append(names, jsonfield.Name(path))
	}
	return names
}

// Close ends background work and releases the files. What was acknowledged is in the log and
// tables; a database need not be closed to be safe. Close waits for running writes; using the
// database afterwards is ErrClosed. Snapshots that are still open stay readable. Close first
// finishes merges that are running, as Options.CloseWait says, while it refuses writes, and
// merges small tables that are due, so that short-lived processes compact as well. It waits for
// a running Compact to return; cancel its context to end it sooner. A second Close returns what
// the first did.
func (db *DB) Close() error { return db.s.Close() }

// IsNew reports whether this DB has made the database. Of several that open a new path at once,
// one has.
func (db *DB) IsNew() bool { return db.s.IsNew() }

// Discard closes the database and, if this DB has created it and nothing was ever stored in it,
// removes it: after an error it leaves no empty database behind.
func (db *DB) Discard() error { return db.s.Discard() }

// Refresh makes what another process has written since Open, or since the last Refresh, visible
// to a database that was opened read-only: whole writes in their order, and those that were
// acknowledged before Refresh was called. Snapshots that are open stay as they are. It costs
// microseconds if nothing was written, and reads only what is new; after a flush or a
// compaction it reads the catalog and opens new tables. A database open for writing needs no
// Refresh: it returns nil. Errors are ErrClosed, that of the context, and those of Open; after
// an error the database shows what it showed before.
func (db *DB) Refresh(ctx context.Context) error { return db.s.Refresh(ctx) }

// ReleaseDeleted gives back the files that a database opened read-only keeps open although
// another process has removed them: their space is free once nobody has them open. If there are
// any, the DB forgets what it shows, and its next use reads the database as it is then.
// Snapshots that are open keep their files. It reports whether the DB still has files open that
// may be removed later. A program that leaves a reader idle for a long time should call it now
// and then. A DB that is open for writing has no such files. Errors are ErrClosed and those of
// the file system.
func (db *DB) ReleaseDeleted() (holds bool, err error) { return db.s.ReleaseDeleted() }

// Flush writes everything that is in memtables to tables and returns when that is done. The error
// is ErrClosed, ErrReadOnly, ErrFailed, or that of the context.
func (db *DB) Flush(ctx context.Context) error { return db.s.Flush(ctx) }

// CompactOptions are the options of Compact.
type CompactOptions struct {
	// Due merges only what compaction in the background would merge, and flushes nothing but writes
	// because of which expired documents would have to stay: a large table is merged only when there
	// are enough others of its size. At the end of a load this makes sure that the next search meets
	// few tables. It also merges while compaction is paused.
	Due      bool
	Progress func(Progress) // called from another goroutine; may be nil
}

// Compact flushes the memtables and merges all tables into one, dropping what is deleted,
// replaced or expired, with its texts. If there are more documents than one table can have, it
// makes few tables, by merging whole ones. It returns when that is done; reads and writes
// continue meanwhile. Errors are as those of Flush, and *CorruptionError: then the tables that are
// not damaged have been merged.
func (db *DB) Compact(ctx context.Context, o ...*CompactOptions) error {
	of := given(o)
	if of.Due {
		return db.s.CompactDue(ctx, progressTo(of.Progress))
	}
	return db.s.Compact(ctx, progressTo(of.Progress))
}

// SetCompactionRate sets how many bytes a second merges write together, as
// Options.CompactionRate; 0 means no limit. A negative rate pauses compaction until the rate is
// set again: no merge starts in the background, and running ones are suspended. Compact still
// works, and lets suspended merges continue while it waits for them; Close finishes them. While
// compaction is paused writers are not held back, however many tables there are.
func (db *DB) SetCompactionRate(bytes int64) { db.s.SetCompactionRate(bytes) }

// Pack writes all visible documents into one table file at path, which Open opens as a
// read-only database and Ingest adds to others. The file appears whole or not at all; one that
// is there already, at the start or at the end, is ErrExists. It is written beside path, under
// a name that starts with a dot and ends with .tmp, which remains if the process is killed.
// More documents than one table can have, 2^32 - 2 or fewer with sketches, are ErrTooLarge,
// before anything is written.
func (db *DB) Pack(ctx context.Context, path string, progress ...func(Progress)) error {
	return db.s.Pack(ctx, path, progressTo(progress...))
}

// Ingest adds the documents of table files, made by Pack or elsewhere, to the database: the
// files are copied into it as they are. Their documents count as written now, file after file,
// those of one file in the order in which they were written before. A document whose ID is
// stored replaces the stored one. All files must have the parameters of the database, except
// the layout (ErrParams); they are added one after the other, and after an error those before
// the failed one remain added.
func (db *DB) Ingest(ctx context.Context, paths ...string) error { return db.s.Ingest(ctx, paths) }

// Backup makes a backup of the database in the folder path, which must be missing, empty, or an
// earlier backup of the same database: that is brought up to date, and tables that it has are not
// copied again. Anything else at path is ErrExists. The backup has the state of one moment: what a
// Snapshot would see, at the beginning. It needs no lock of the database: a DB that was opened
// read-only, with a writer in another process, backs up what it shows. Writes continue meanwhile.
//
// A backup is opened like any database, which is how it is restored. Opened for writing it
// becomes a database of its own, and can no longer be brought up to date. An error, such as a
// full disk, or a kill leaves the earlier backup as it was; the next run uses copies that a
// killed or cancelled run has made. The checksums of each copy are verified: damage of the
// database is a *CorruptionError. The folder is locked while it is written: ErrLocked. A DB of
// a single table file, or of a set, is ErrInvalid.
func (db *DB) Backup(ctx context.Context, path string, o ...*BackupOptions) error {
	of := given(o)
	r, err := db.s.Backup(ctx, path, backup.Options{Link: of.Links, Progress: progressTo(of.Progress)})
	if of.Report != nil {
		*of.Report = BackupReport(r)
	}
	return err
}

// BackupOptions are the options of Backup.
type BackupOptions struct {
	// Links hard-links the files of tables, which never change, instead of copying them, if the
	// backup is on the same file system. That costs neither time nor space, but damage to such
	// a file is in the database and in the backup.
	Links    bool
	Report   *BackupReport  // set when Backup returns; may be nil
	Progress func(Progress) // in bytes of tables; may be nil
}

// BackupReport says what a Backup has done.
type BackupReport struct {
	Tables         int   // in the backup
	Copied, Linked int   // of them, those that were not in the earlier backup
	Bytes          int64 // of all tables in the backup
	BytesWritten   int64 // of those that were written now
}

// Metrics returns how the DB was opened and what it has done since.
func (db *DB) Metrics() Metrics {
	c := &db.s.Counts
	running, past := db.s.Merges()
	damaged, _ := db.s.Damaged()
	return Metrics{
		Path: db.s.Path, Memory: db.s.Memory,
		Puts: c.Puts.Load(), Deletes: c.Deletes.Load(), Batches: c.Batches.Load(), Queries: c.Queries.Load(),
		Flushes: c.Flushes.Load(), Compactions: c.Compactions.Load(), BytesFlushed: c.BytesFlushed.Load(),
		BytesLoaded: c.BytesLoaded.Load(), BytesCompacted: c.BytesCompacted.Load(), WALBytes: c.WALBytes.Load(), CatalogBytes: db.s.CatalogBytes(),
		TablesMerged: c.Merged.Load(), BytesMerged: c.BytesMerged.Load(), CompactionTime: time.Duration(c.CompactTime.Load()),
		Merging: len(running), Running: running, Past: past, Damaged: damaged,
		Stalls: c.Stalls.Load(), StallTime: time.Duration(c.StallTime.Load()), SlowTime: time.Duration(c.SlowTime.Load()),
	}
}

// Params returns the parameters that the database was created with.
func (db *DB) Params() Params {
	p := db.params
	p.TTL = db.s.TTL
	return p
}

// Hash computes the words of the fingerprint, and the MinHash sketch, that Put stores for text: nil
// if text has no words. The sketch is nil, too, if the database keeps none.
func (db *DB) Hash(text string) (fingerprint []Fingerprint, sketch minhash.Sketch) {
	var s view.Sums
	if db.s.Texts.Sum(&s, text); !s.Words {
		return nil, nil
	}
	return append([]Fingerprint{s.Fingerprint}, s.Rest...), s.Sketch
}

// Identify says in words what is at path, if that belongs to simdb, and otherwise "": a
// database; a file in the folder of one, whether it exists or not; or a table, a log or a
// catalog anywhere, recognised by its content. A program calls it before it replaces a file.
func Identify(path string) (string, error) { return files.Identify(path) }

// An Identifier is [Identify] for many files: it lists each folder once. A database that is created
// in a folder after that is recognized nevertheless. It may be used concurrently.
type Identifier struct{ s files.Identifier }

// Identify is the function [Identify].
func (x *Identifier) Identify(path string) (string, error) { return x.s.Identify(path) }
