// Package compaction decides which tables are merged, when, and how fast.
//
//	job := compaction.Pick(tables, compaction.Options{})   // nil: nothing to do
//	scheduler := compaction.NewScheduler(store, 0, 0)
//	merge, err := scheduler.Next(false)                    // nil: nothing may start now
//
// [Pick] is the policy, [Schedule] records what is being merged, and [Scheduler] lets merges
// start: in the background by the policy, for loads, and for callers that wait. A [Throttle]
// limits the rate at which they write. sstable.Merge does the merging. The package knows
// tables, tombstones and times; files, versions, goroutines and the catalog belong to the
// engine, which is its [Store].
//
// # Policy
//
// Tables are merged size-tiered: a tier is the set of tables whose sizes lie within a factor of
// Fanout, and a tier of Fanout tables or more is merged into one table, which then belongs to a
// higher tier. With n tables' worth of data a document is rewritten about log_Fanout(n) times,
// and a query meets at most Fanout-1 tables a tier. A table of which more than DeadShare is
// deleted or replaced is rewritten alone, and a table whose newest document has expired is
// dropped without being read.
//
// A database with a time to live is tiered by time first: the time to live is divided into Windows,
// and tables are merged only with tables of the same window. When a window has passed, its tables
// become one. So tables expire whole, and expired documents that are still stored are at most about
// those of one window. A table that spans more than a window (its documents came with times of
// their own) is tiered with others like it. If dead documents, including expired ones, exceed the
// share Slack of living ones, the table with the greatest dead share is rewritten. The number of
// expired documents of a table is estimated from its sketch of times.
//
// A table has a limit of documents, and no merge is picked whose result might exceed it. A
// table that is more than half full is only rewritten because of its dead documents. The others
// of a tier are merged as far as they fit into one table, the smaller ones first; if they do
// not all fit, the result is more than half full. So because of the limit a document is
// rewritten at most once more, and apart from tiers that are not full there are fewer than
// twice as many tables as the documents need.
//
// If there are more than MaxTables tables although no tier is full, those tables are merged for
// which the number of tables shrinks at the least cost in bytes.
//
// # Schedule and pace
//
// No two merges have a table in common: all are in one schedule. A merge in the background uses
// half of the processors. A merge with at most an eighth of the bytes of every running one starts
// beside them, so that small tables, which slow searches down, need not wait for large merges.
//
// Writers are slowed when there are more than MaxTables tables, to the pace of merging, and stop at
// four more (speed.go). They are not slowed where merging would not help: if compaction is off or
// paused, or the last merge failed.
//
// A merge in the background starts only when the database has been open for as long as the merge is
// expected to take, and Close finishes it. So Close takes no longer than the database was open, and
// a process that is started again and again never repeats a merge.
package compaction
