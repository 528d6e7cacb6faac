// Package store keeps documents: it opens and recovers a database, takes writes, and flushes and
// merges what they leave. Package engine is its public API.
//
// # Parts
//
// A database is a directory. CATALOG (bbolt, package catalog) lists what is in it; documents are in
// immutable tables (.sst, package sstable) and, until a table is written, in a memtable that a
// write-ahead log (.wal, package wal) makes durable.
//
//	writes ──> log ──> memtable ──flush──> table ─┐
//	                                      tables ─┴─compaction──> table
//	reads  ──> view = memtables + version (a set of tables, each with its tombstones)
//
// # Words
//
// A write is committed when it is in the log and the memtable (commitLocked); it is safe when the
// log is synced as far as the options say (waitSafe). A table is published when the catalog lists
// it and the current version has it: by a flush, a compaction, a load or an ingest. Installing is
// the last step of that: a new version becomes the current one.
//
// # Invariants
//
//   - Every write has a sequence number, larger than all before it. The documents of a load or of
//     an ingested table are written, and get their numbers, when the table is published. A view is
//     a sequence number and what was readable at it; it sees exactly the writes up to its number.
//   - At any sequence number an ID is alive in at most one place: a write that replaces or deletes
//     it marks the old place dead, with its own number. Places are a table and document number, or
//     a memtable and position.
//   - A table's durable tombstones are in the catalog. Tombstones younger than FlushedSeq are in
//     the log alone, and are found again by replaying it.
//   - Replaying a log is idempotent: a record that is older than the document stored under its ID
//     does nothing. So no compaction drops an expired document that is younger than a record of the
//     log: that record may be what it replaced.
//   - A file is unlinked only after the catalog stopped listing it and no view can reach it.
//
// # Locks, in the order they are taken
//
//	merges      (compaction.Scheduler) which merges run, on which tables; it is never held
//	            during a merge
//	publishMu   one change of the set of tables at a time (flush, merge, load)
//	writeMu     one writer at a time: sequence numbers, log order, memtable, tombstones
//	mu          the pointers that a view copies; held for nanoseconds
//
// Methods whose names end with Locked are called with writeMu held.
//
// # Recovery
//
// A killed process may have written what it could not sync: frames of a log, a transaction of the
// catalog, a file name. The next process reads it, but a power cut may still take it away. So
// opening for writing syncs all three before it removes a file or starts a log.
//
// A table is written as NNNNNN.sst.tmp, synced with its name, published in the catalog, and only
// then renamed to NNNNNN.sst. Opening accepts either name of a listed table and removes files that
// are not listed, except for whole tables with a number that the catalog has not assigned: the
// catalog is an old copy then, and the table is kept as NNNNNN.sst.orphan.
//
// Writes look their IDs up before they go into the log. So a replay meets damage only if it came
// later; then it searches the names of the table, and what these leave in doubt (view.Doubt) keeps
// its log.
//
// The catalog records the first log to replay and, after a clean close, where the newest log ended.
// Each log names its predecessor. So a log that is missing or shortened is detected. Up to four
// short logs are replayed and kept before they are flushed, so a script that opens the database
// for one write at a time does not make a table for each.
//
// # Readers in other processes
//
// A reader takes no lock and does not use bbolt, which would lock the file. A transaction of bbolt
// writes only pages that the previous state does not use, and the root last. So a walk over the
// catalog's pages between two looks at the root that find the same transaction reads one state. The
// reader then opens the tables and replays the logs; if the last transaction is still the same, all
// of it belongs together, and otherwise it reads again. Refresh continues in the newest log if the
// transaction is the same (follow.go).
//
// # A full disk
//
// Every step up to the one that publishes something can be taken back: a log is cut to whole frames
// and keeps the others in memory, an unfinished table is removed, and a transaction of bbolt has
// changed nothing while the root is the former one. So no error of a full disk is final, except
// that of an fsync. Merges end when a write or a flush finds no space (compaction/space.go).
package store
