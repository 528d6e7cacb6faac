package engine

import (
	"context"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/inspect"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/minhash"
)

// DB is an open database. All methods may be called from many goroutines.
type DB struct{ s *store.Store }

// Create makes a new database at path and opens it. It returns ErrExists if there is something at
// path that is not an empty directory. A nil o is the zero Options.
func Create(path string, o *Options) (*DB, error) {
	return opened(store.Create(path, o.internal()))
}

// Open opens the database at path, which it creates if there is nothing and Options does not forbid
// it. A single table file (.sst) is opened as well, read-only. A nil o is the zero Options.
//
// Open recovers what a crash has left: the log is replayed, its torn end, which was never
// acknowledged, is cut off, and files that were being written are removed. Anything else that is
// damaged is a *CorruptionError. A database that another process has open for writing is ErrLocked
// after Options.BusyTimeout, unless it is opened read-only: a reader takes no lock.
// ErrNotFound is for no database at path, ErrNotDatabase for something else there, ErrParams for
// options that differ from those it was created with.
func Open(path string, o *Options) (*DB, error) {
	return opened(store.Open(path, o.internal()))
}

func opened(s *store.Store, err error) (*DB, error) {
	if err != nil {
		return nil, err
	}
	return &DB{s}, nil
}

// Close ends background work and releases the files. What was acknowledged is in the log and
// tables; a database need not be closed to be safe. Close waits for running writes; using the
// database afterwards is ErrClosed. Snapshots that are still open stay readable. Close first
// finishes merges that are running, as Options.CloseWait says, while it refuses writes, and merges
// small tables that are due, so that processes that live shortly compact as well. It waits for
// Compact and CompactDue to return, which the end of their contexts hastens. A second Close returns
// what the first did.
func (db *DB) Close() error { return db.s.Close() }

// Refresh makes what another process has written since Open, or since the last Refresh, visible to
// a database that was opened read-only: whole writes in their order, and those that were
// acknowledged before Refresh was called. Snapshots that are open stay as they are. It costs
// microseconds if nothing was written, and reads only what is new; after a flush or a compaction it
// reads the catalog and opens new tables. A database open for writing needs none: it returns nil.
// Errors are ErrClosed, that of the context, and those of Open; after an error the database shows
// what it showed before.
func (db *DB) Refresh(ctx context.Context) error { return db.s.Refresh(ctx) }

// ReleaseDeleted gives back the files that a database opened read-only keeps open although another
// process has removed them: their space is free once nobody has them open. If there are any, the DB
// forgets what it shows, and its next use reads the database as it is then. Snapshots that are open
// keep their files. It reports whether the DB still has files open that may be removed later. A
// program that leaves a reader unused for long calls it now and then. Open for writing, a DB has no
// such files. Errors are ErrClosed and those of the file system.
func (db *DB) ReleaseDeleted() (holds bool, err error) { return db.s.ReleaseDeleted() }

// Path returns the path that the database was opened with.
func (db *DB) Path() string { return db.s.Path }

// Memory returns the number of bytes that a query may hold of what it has found: Options.Memory.
func (db *DB) Memory() int64 { return db.s.Memory }

// Flush writes everything that is in memtables to tables and returns when that is done. The error
// is ErrClosed, ErrReadOnly, ErrFailed, or that of the context.
func (db *DB) Flush(ctx context.Context) error { return db.s.Flush(ctx) }

// Compact flushes the memtables and merges all tables into one, dropping what is deleted, replaced
// or expired, with its texts. Of more documents than one table can have it makes few tables, by
// merging whole ones. It returns when that is done; reads and writes continue meanwhile. Progress,
// if not nil, is called from another goroutine. Errors are as those of Flush, and *CorruptionError.
func (db *DB) Compact(ctx context.Context, progress func(Progress)) error {
	return db.s.Compact(ctx, progressTo(progress))
}

// CompactDue merges tables as compaction in the background does, and returns when nothing is left
// for it to do. At the end of a load it makes sure that the next search meets few tables. What
// Compact does is more: here a large table is merged with others only once they are as many and as
// large. Progress and errors are as Compact's. It merges while compaction is paused, too.
func (db *DB) CompactDue(ctx context.Context, progress func(Progress)) error {
	return db.s.CompactDue(ctx, progressTo(progress))
}

// PauseCompaction keeps merges from starting in the background, and holds those that run, until
// ResumeCompaction. Compact and CompactDue work all the same, and let held merges continue while
// they wait for them; Close finishes them. While compaction is paused writers are not held back,
// however many tables there are.
func (db *DB) PauseCompaction() { db.s.PauseCompaction() }

// ResumeCompaction ends what PauseCompaction began.
func (db *DB) ResumeCompaction() { db.s.ResumeCompaction() }

// SetCompactionRate sets how many bytes a second merges write together, as Options.CompactionRate;
// 0 means no limit.
func (db *DB) SetCompactionRate(bytes int64) { db.s.SetCompactionRate(bytes) }

// Pack writes all visible documents into one table file at path, which Open opens as a read-only
// database and Ingest adds to others. The file appears whole or not at all; one that is there
// already, at the start or at the end, is ErrExists. It is written beside path, under a name that
// starts with a dot and ends with .tmp, which a process that is killed leaves. More documents than
// one table can have, 2^32 - 2 or fewer with sketches, are ErrTooLarge, before anything is written.
func (db *DB) Pack(ctx context.Context, path string, progress func(Progress)) error {
	return db.s.Pack(ctx, path, progressTo(progress))
}

// Ingest adds the documents of table files, made by Pack or elsewhere, to the database: the files
// are copied into it as they are. Their documents count as written now, file after file, those of
// one file in the order in which they were written before. A document whose ID is stored replaces
// the stored one. All of the files must have the database's parameters (ErrParams), all but the
// layout; they are added one after the other, and an error leaves those before it added.
func (db *DB) Ingest(ctx context.Context, paths ...string) error { return db.s.Ingest(ctx, paths) }

// Backup makes a backup of the database in the folder path, which must be missing, empty, or an
// earlier backup of the same database: that is brought up to date, and tables that it has are not
// copied again. Anything else at path is ErrExists. The backup has the state of one moment: what a
// Snapshot would see, at the beginning. It needs no lock of the database: a DB that was opened
// read-only, with a writer in another process, backs up what it shows. Writes continue meanwhile.
//
// A backup is opened as any database, which is how it is restored. Opened for writing it becomes a
// database of its own, and can't be brought up to date any more. An error, also a full disk, or a
// kill leaves the earlier backup as it was; copies that a killed or cancelled run has made are used
// by the next. The checksums of each copy are verified: damage of the database is a
// *CorruptionError. The folder is locked while it is written: ErrLocked. A DB of a single table
// file is ErrInvalid.
func (db *DB) Backup(ctx context.Context, path string, opts ...BackupOption) error {
	var o backupOptions
	for _, opt := range opts {
		opt(&o)
	}
	r, err := db.s.Backup(ctx, path, o.Options)
	if o.report != nil {
		*o.report = BackupReport(r)
	}
	return err
}

// Metrics returns what the DB has done since it was opened.
func (db *DB) Metrics() Metrics { return Metrics(db.s.Metrics()) }

// Params returns the parameters that the database was created with.
func (db *DB) Params() Params {
	p := db.s.Params
	return Params{
		Tokenizer: int(p.Tokenizer), Shingle: int(p.Shingle), Layout: Layout(p.Layout.String()), Sketch: int(p.Sketch),
		MinJaccard: p.MinJaccard, Text: p.StoreText, TTL: db.s.TTL, Features: featuresOf(p.Features),
	}
}

// Stats describes the database as it is now. It counts without reading documents.
func (db *DB) Stats() (Stats, error) {
	return withSnapshot(db, func(s *Snapshot) (Stats, error) {
		st, err := inspect.Describe(&s.v)
		stats := Stats{
			Path: db.Path(), Documents: st.Documents, Fingerprints: st.Fingerprints, Tombstones: st.Tombstones,
			Expired: st.Expired, Memtable: st.Memtable, DiskBytes: st.DiskBytes, Orphans: orphanStats(st.Orphans), Params: db.Params(), Seq: st.Seq,
		}
		for _, t := range st.Tables {
			stats.Tables = append(stats.Tables, TableStats{
				Name: t.Name, Documents: t.Documents, Tombstones: t.Tombstones, Expired: t.Expired, Bytes: t.Bytes, MinTime: t.MinTime, MaxTime: t.MaxTime,
				Layout: Layout(t.Layout), IndexBytes: t.IndexBytes, BytesPerFingerprint: t.BytesPerFingerprint,
			})
		}
		return stats, err
	})
}

func orphanStats(orphans []inspect.Orphan) []OrphanStats {
	var out []OrphanStats
	for _, o := range orphans {
		out = append(out, OrphanStats(o))
	}
	return out
}

// Check verifies everything that is stored: every checksum of every table, that its sections agree
// with each other, the catalog, and the logs. It continues after a problem and reports all it
// finds; the error is for what kept it from checking.
func (db *DB) Check(ctx context.Context, progress func(Progress)) (CheckReport, error) {
	return withSnapshot(db, func(s *Snapshot) (CheckReport, error) {
		r, err := inspect.Check(ctx, &s.v, progressTo(progress))
		return CheckReport{
			Tables: r.Tables, Documents: r.Documents, Bytes: r.Bytes, Problems: r.Problems, Orphans: orphanStats(r.Orphans),
		}, err
	})
}

// Fingerprint computes the fingerprint that Put stores for text, and false if text has no words.
func (db *DB) Fingerprint(text string) (fp Fingerprint, words bool) {
	fp, words, _ = db.s.Texts.Sums(text)
	return fp, words
}

// Sketch computes the MinHash sketch that Put stores for text: nil if text has no words, or the
// database no sketches.
func (db *DB) Sketch(text string) minhash.Sketch {
	_, _, sketch := db.s.Texts.Sums(text)
	return sketch
}

// Identify says in words what of simdb is at path, "" if nothing is: a database, a file in the
// folder of one, whether it exists or not, or a table, a log or a catalog anywhere, which it knows
// by their content. A program calls it before it replaces a file.
func Identify(path string) (string, error) { return files.Identify(path) }

// An Identifier is [Identify] for many files: it lists each folder once. A database that is created
// in a folder after that is recognized nevertheless. It may be used concurrently.
type Identifier struct{ s files.Identifier }

// Identify is the function [Identify].
func (x *Identifier) Identify(path string) (string, error) { return x.s.Identify(path) }
