// Package store keeps documents: it opens and recovers a database, takes writes, and flushes and
// merges what they leave. Package engine is its face.
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
//	merges      (package merges) which merges run, and which tables they have; it is never held
//	            during a merge
//	publishMu   one change of the set of tables at a time (flush, merge, load)
//	writeMu     one writer at a time: sequence numbers, log order, memtable, tombstones
//	mu          the pointers that a view copies; held for nanoseconds
//
// Methods whose names end with Locked are called with writeMu held.
package store
