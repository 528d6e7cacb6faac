// Package compaction decides which tables are merged, when, and how fast.
//
//	job := compaction.Pick(tables, compaction.Options{})   // nil: nothing to do
//	scheduler := compaction.NewScheduler(store, 0, 0)
//	merge, err := scheduler.Next(false)                    // nil: nothing may start now
//
// [Pick] is the policy, [Schedule] the picture of what is being merged, and [Scheduler] lets merges
// start: in the background by the policy, for loads, and for callers that wait; a [Throttle] holds
// what they write to a rate. sstable.Merge merges. The package knows tables, tombstones and times;
// files, versions, goroutines and the catalog belong to the engine, which is its [Store].
//
// # Policy
//
// Tables are merged size-tiered: a tier is the set of tables whose sizes lie within a factor of
// Fanout, and a tier of Fanout tables or more is merged into one table, which then belongs to a
// higher tier. With n tables' worth of data a document is rewritten about log_Fanout(n) times, and
// a query meets at most Fanout-1 tables a tier. Also, a table of which more than DeadShare is
// deleted or replaced is rewritten alone, and a table whose newest document has expired is dropped
// without being read.
//
// A database with a time to live is tiered by time first: the time to live is divided into Windows,
// and tables are merged only with tables of the same window. When a window has passed, its tables
// become one. So tables expire whole, and what has expired but is still stored is at most about a
// window. A table that spans more than a window (its documents came with times of their own) is
// tiered with others like it. Where all that is dead, expired documents included, exceeds Slack of
// what lives, the table with the greatest dead share is rewritten. The number of expired documents
// of a table is estimated from its sketch of times.
//
// A table has a limit of documents, and no merge is picked whose result might exceed it. A table
// that is more than half full is left alone, but for the dead in it. The others of a tier are
// merged as far as they fit into one table, the smaller ones first; if they do not all fit, the
// result is more than half full. So the limit makes a document be rewritten at most once more, and
// apart from tiers that are not full there are less than twice as many tables as the documents
// need.
//
// Where there are more than MaxTables tables, although no tier is full, those are merged that cost
// the fewest bytes for each table less.
//
// # Schedule and pace
//
// No two merges have a table in common: all are in one schedule. A merge in the background uses
// half of the processors. A merge of an eighth of the bytes of every running one starts alongside
// them, because searches wait for small tables to be merged.
//
// Writers are slowed when there are more than MaxTables tables, to the pace of merging, and stop at
// four more (speed.go). They are not slowed where merging would not help: if compaction is off or
// paused, or the last merge failed.
//
// A merge in the background starts only when the database has been open for as long as the merge is
// expected to take, and Close finishes it. So Close takes no longer than the database was open, and
// a process that is started again and again never repeats a merge.
package compaction
