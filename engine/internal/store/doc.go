// Package store implements a database: it opens and recovers it, accepts writes, and flushes and
// merges them into tables. Package engine is its public API.
//
// # Parts
//
// A database is a directory. CATALOG (bbolt, package catalog) lists its contents. Documents are in
// immutable tables (.sst, package table) and, until a table is written, in a memtable that a
// write-ahead log (.wal, package wal) makes durable.
//
//	writes ──> log ──> memtable ──flush──> table ─┐
//	                                      tables ─┴─compaction──> table
//	reads  ──> view = memtables + version (a set of tables, each with its tombstones)
//
// # Words
//
// A write is committed when it is in the log and the memtable (commitLocked); it is safe when the
// log is synced as far as the options say (waitSafe). A flush, a compaction, a load or an ingest
// publishes a table: then the catalog lists it and the current version includes it. Installing is
// the last step of publishing: a new version becomes the current one.
//
// # Invariants
//
//   - Every write has a sequence number larger than those of all earlier writes. The documents of a
//     load or of an ingested table count as written, and get their numbers, when the table is
//     published. A view is a sequence number and the data readable at it; it sees exactly the
//     writes up to its number.
//   - At any sequence number an ID is alive in at most one place: a write that replaces or deletes
//     it marks the old place dead, with its own number. A place is a table and document number, or
//     a memtable and position.
//   - A table's durable tombstones are in the catalog. Tombstones younger than FlushedSeq are in
//     the log alone; replaying it restores them.
//   - The documents of a table never come back to life: only another version can have an ID that
//     this one lacks.
//   - Replaying a log is idempotent: a record that is older than the document stored under its ID
//     does nothing. Therefore no compaction drops an expired document that is younger than a record
//     of the log: the document may have replaced that record.
//   - A file is unlinked only after the catalog stopped listing it and no view can reach it.
//
// # Locks, in the order of locking
//
//	merges      (merges.Scheduler) which merges run, on which tables; it is never held
//	            during a merge
//	publishMu   one change of the set of tables at a time (flush, merge, load)
//	sharing.mu  one goroutine begins the turn of a shared store (share.go)
//	readMu      one Refresh at a time
//	writeMu     one writer at a time: sequence numbers, log order, memtable, tombstones
//	mu          the pointers that a view copies; held for nanoseconds
//
// Methods whose names end with Locked are called with writeMu held.
//
// # Recovery
//
// A killed process may have written data that it did not sync: frames of a log, a transaction of
// the catalog, a file name. The next process reads them, but a power cut may still lose them.
// Opening for writing therefore syncs all three before it removes a file or starts a log.
//
// A rotation syncs nothing: logs are made before they are needed, and ended afterwards (logs.go).
// Frames of a log are written only after the log before it has a durable end frame. Therefore only
// the newest log with frames can have a torn end. Logs without frames may follow it.
//
// A table is written as NNNNNN.sst.tmp, synced with its name, published in the catalog, and only
// then renamed to NNNNNN.sst. Opening accepts either name of a listed table and removes unlisted
// files. An intact unlisted table whose number the catalog has not assigned yet shows that the
// catalog is an old copy: opening renames such a table to NNNNNN.sst.orphan.
//
// Writes look up their IDs before they are logged, and before they lock writeMu (lookup.go). The log
// says what they have replaced, so a replay looks up few IDs (replayed). It fails to look one up
// only if a table was damaged later. Then it searches the names of the table; if these leave a doubt
// (view.Doubt), the log is not removed.
//
// The catalog records the first log to replay and, after a clean close, where the newest log ended.
// Each log names its predecessor. A missing or shortened log is therefore detected. Up to four
// short logs are replayed before they are flushed, so a script that opens the database for one
// write at a time does not make a table for each.
//
// # Readers in other processes
//
// A reader locks nothing and does not use bbolt, which would lock the file. A transaction of bbolt
// writes only pages that the previous state does not use, and the root last. If a walk over the
// catalog's pages finds the same transaction in the root before and after, it has read one state.
// The reader then opens the tables and replays the logs; if the last transaction is still the same,
// everything belongs together, and otherwise it starts again. Refresh reads on in the newest log if
// the transaction is unchanged (follow.go).
//
// # A full disk
//
// Every step before the one that publishes can be undone: a log is cut to whole frames and the
// others stay in memory, an unfinished table is removed, and a transaction of bbolt changes nothing
// until it writes the root. A full disk is therefore never a final error, except in an fsync.
// Merges end when a write or a flush finds no space (merges/space.go).
package store
